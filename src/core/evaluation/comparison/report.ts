import path from 'node:path';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { MB, readText } from '../../regularFile';
import { writeAtomically, ifThere } from '../../trajectory/files';
import { RunReader, type RunRecord } from './experiment';
import { measuredRunsOf, type MeasuredRuns, missingIn } from './measuredRuns';
import type { Run, Runs } from '../../training/runs';
import { figureOf } from '../interval';
import { percent } from '../words';
import { barPicture } from '../pictures/chart';
import { learningPicture } from '../pictures/curves';
import { grouped } from '../../text';
import { escaped, fenced } from '../../markdown';
import { canPlay, modelOf, runFiles } from '../../training/runFolder';
import { baselineComparisonsOf } from './untrainedBaseline';
import { packOf, type EvaluationSetting } from '../loop/evaluationCache';
import { criticTable, differenceTable, measuredTable } from '../report/comparison';
import { tableInMarkdown, wordColumn } from '../report/table';

interface ReportPlan {
  readonly runs: Runs;
  readonly of: readonly Run[];
  /** Names of the runs, in their order, all different. */
  readonly names: readonly string[];
  /** Absolute; files inside may be named in the report. */
  readonly workspace: string;
}

/**
 * The pictures are in a folder beside the Markdown file. Only this file and the pictures of an earlier report are
 * overwritten or removed.
 */
export async function writeReport(file: string, { runs, of, names, workspace }: ReportPlan): Promise<void> {
  const read = await Promise.all(of.map(({ id }) => recordOf(runs, id)));
  const records = read.filter((record) => record !== undefined);
  const there = names.filter((_, index) => read[index] !== undefined);
  const measured = measuredRunsOf(records.map(({ kept }) => kept));
  const named = records.map(({ history }, index) => ({ name: there[index]!, history }));
  const pictures = [
    ...measured.map((one) => [pictureOf.success(one.setting), successPicture(one, there)] as const),
    ...stagesOf(records).map((stage) => [pictureOf.stage(stage), learningPicture(stage, named)] as const),
  ];
  const folder = await folderFor(
    file,
    pictures.map(([name]) => name),
  );
  const page = pageOf({ records, names: there, measured, workspace, pictures: folder });
  await writePictures(path.join(path.dirname(file), folder), pictures);
  await writeAtomically(file, page);
}

async function recordOf(runs: Runs, id: string): Promise<RunRecord | undefined> {
  const reader = new RunReader(runs, id);
  try {
    return await reader.read();
  } finally {
    await reader.close();
  }
}

/** Last line of each picture; it tells the next report which files it may overwrite and remove. */
const MARK = '<!-- A picture of a report by Tandem, which writes over it. -->\n';

/**
 * `<report>-pictures` beside the report or, where a foreign file there has the name of a picture, the next of
 * `<report>-pictures-2`, `-3` … without such a file.
 * @param report the Markdown file
 * @param names file names of the pictures
 * @returns the folder's name
 */
async function folderFor(report: string, names: readonly string[]): Promise<string> {
  const first = `${path.basename(report, path.extname(report))}-pictures`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (await isFree(path.join(path.dirname(report), name), names)) return name;
  }
}

/** Also removes pictures of an earlier report that this one lacks. */
async function writePictures(
  folder: string,
  pictures: readonly (readonly [name: string, svg: string])[],
): Promise<void> {
  const names = new Set(pictures.map(([name]) => name));
  for (const name of (await ifThere(() => readdir(folder))) ?? []) {
    if (!names.has(name) && (await isOurs(path.join(folder, name)))) await rm(path.join(folder, name));
  }
  if (pictures.length > 0) await mkdir(folder, { recursive: true });
  for (const [name, svg] of pictures) {
    await writeAtomically(path.join(folder, name), `${svg}\n${MARK}`);
  }
}

/** True if the folder is absent, or holds no foreign file under the name of a picture. */
async function isFree(folder: string, names: readonly string[]): Promise<boolean> {
  const there = await ifThere(() => lstat(folder));
  if (there === undefined) return true;
  if (!there.isDirectory()) return false;
  const theirs = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      return (await ifThere(() => lstat(file))) !== undefined && !(await isOurs(file));
    }),
  );
  return !theirs.includes(true);
}

/** Ours have a bounded number of points. */
const MAX_PICTURE_BYTES = 64 * MB;

async function isOurs(file: string): Promise<boolean> {
  if (!file.endsWith('.svg')) return false;
  const found = await lstat(file);
  if (!found.isFile() || found.size > MAX_PICTURE_BYTES) return false;
  return (await readText(file, MAX_PICTURE_BYTES)).endsWith(MARK);
}

function successPicture({ rows, setting }: MeasuredRuns, names: readonly string[]): string {
  return barPicture({
    title: 'Success on held-out tasks',
    subtitle: `${setting.title}, ${setting.tasks} tasks; the lines are 95 % intervals`,
    categories: rows.map(({ run, figures }) => (run === undefined ? `start: ${figures.agent}` : names[run]!)),
    series: [
      {
        name: 'success',
        bars: rows.map(({ figures }) => figures.success && figureOf(figures.success)),
      },
    ],
    format: percent,
  });
}

interface ComparisonReport {
  readonly records: readonly RunRecord[];
  readonly names: readonly string[];
  readonly measured: readonly MeasuredRuns[];
  /** Absolute. Paths inside are shown relative to it; of other paths only the last part is shown. */
  readonly workspace: string;
  /** Relative to the page, with `/`. */
  readonly pictures: string;
}

export function pageOf(experiment: ComparisonReport): string {
  const parts = [
    [`# ${experiment.names.map(escaped).join(', ')}`],
    results(experiment),
    runs(experiment),
    configurations(experiment),
    learning(experiment),
    controls(experiment),
    commands(experiment),
  ];
  return `${parts.flat().join('\n\n')}\n`;
}

export const pictureOf = {
  success: ({ key }: EvaluationSetting): string => `success-${key}.svg`,
  stage: (stage: string): string => `${stage.replaceAll(/[^\w-]/g, '_')}.svg`,
};

export const stagesOf = (records: readonly RunRecord[]): string[] => [
  ...new Set(records.flatMap(({ history }) => history.trained)),
];

function results({ measured, names, workspace, pictures }: ComparisonReport): string[] {
  const heading = '## Held-out success';
  if (measured.length === 0) return [heading, 'Not evaluated yet.'];
  return [
    heading,
    ...measured.flatMap((one) => [
      `${inWords(one.setting, workspace)}:`,
      tableInMarkdown(measuredTable(one, names, (agent) => portable(agent, workspace))),
      picture('Success with intervals', pictures, pictureOf.success(one.setting)),
    ]),
    'In brackets 95 % intervals: of rates Wilson’s over tasks; of differences, in percentage points, the bootstrap over ' +
      'tasks, each task compared with itself under the same seeds, and the p-value of a sign-flip test.',
  ];
}

function inWords(setting: EvaluationSetting, workspace: string): string {
  const { title, tasks, simulator, mode, rollouts, temperature, seed, max_turns, reply_limit } = setting;
  const play = temperature === 0 ? 'greedy' : `sampled at temperature ${temperature}`;
  return (
    `${escaped(title)}, ${tasks} tasks, ${rollouts} ${rollouts === 1 ? 'dialogue' : 'dialogues'} each, ${play}, seed ${seed}; ` +
    `the collaborator is ${escaped(portable(simulator, workspace))}, at most ${max_turns} turns and replies of ${reply_limit} characters; grading ${mode}`
  );
}

function runs({ records, names }: ComparisonReport): string[] {
  return [
    '## Runs',
    tableInMarkdown({
      ...{ name: 'Runs', head: 'run' },
      columns: ['method', 'model', 'training data', 'state', 'started', 'id'].map(wordColumn),
      rows: records.map(({ run, history }, index) => ({
        name: names[index]!,
        cells: [
          run.method,
          `${baseOf(run.base)}${run.commit === undefined ? '' : ` at ${run.commit}`}`,
          learnedFrom(history.data ?? run.selection),
          stateOf(run),
          run.startedAt.slice(0, 16).replace('T', ' '),
          run.id,
        ],
      })),
    }),
  ];
}

/** Names the last step of a run that was finished early, which the configuration does not show. */
function stateOf({ state, progress }: RunRecord['run']): string {
  const ended = progress?.ended;
  return ended === undefined
    ? state
    : `${state}, ended at step ${grouped(ended.step)} of ${grouped(ended.steps)} of ${ended.stage}`;
}

/** The last part of a path; the name of a model on a hub stays whole. */
const baseOf = (base: string): string => portable(base, '').replace(/^…\//, '');

function learnedFrom(
  data: { readonly trajectories: number; readonly tasks: number; readonly successes: number } | undefined,
): string {
  if (data === undefined) return '–';
  const { trajectories, tasks, successes } = data;
  return `${grouped(trajectories)} dialogues of ${grouped(tasks)} tasks, ${grouped(successes)} successes`;
}

function configurations({ records, names, workspace }: ComparisonReport): string[] {
  const portables = records.map(({ configuration }) => portableValue(configuration, workspace));
  const differences = differenceTable(portables, names);
  return [
    ...(records.length === 1
      ? ['## Configuration']
      : [
          '## What differs in the configurations',
          differences === undefined ? 'Nothing but names and data.' : tableInMarkdown(differences),
        ]),
    ...portables.flatMap((configuration, index) => [
      `<details><summary>All of ${escaped(names[index]!)}</summary>`,
      fenced(JSON.stringify(configuration, undefined, 2), 'json'),
      '</details>',
    ]),
  ];
}

function learning({ records, pictures }: ComparisonReport): string[] {
  const stages = stagesOf(records);
  if (stages.length === 0) return [];
  return [
    '## How they learned',
    ...stages.map((stage) =>
      picture(`Learning curves of the stage ${stage}`, pictures, pictureOf.stage(stage)),
    ),
  ];
}

function controls({ records, names }: ComparisonReport): string[] {
  const critics = records.flatMap(({ history }, index) =>
    baselineComparisonsOf(history).map((critic) => ({ run: names[index]!, ...critic })),
  );
  if (critics.length === 0) return [];
  return [
    '## Critics vs. untrained baseline',
    tableInMarkdown(criticTable(critics)),
    'The untrained baseline is the score of the same model before training, on the same n held-out pairs. A critic should ' +
      'beat it there and order turns differently; at a rank correlation of 1 both order the turns alike.',
  ];
}

function commands({ records, measured, workspace }: ComparisonReport): string[] {
  const shown = (file: string): string => quoted(portable(file, workspace));
  const train = records.flatMap(({ run: { folder } }) => [
    `tandem train ${shown(path.join(folder, runFiles.configuration))} --data ${shown(path.dirname(path.dirname(folder)))} --follow`,
  ]);
  const evaluate = measured.map(({ setting, rows }) => {
    const run = records[rows.find((row) => row.run !== undefined)!.run!]!.run;
    const missing = missingIn(rows, records.length)
      .map((index) => records[index]!.run)
      .filter(canPlay);
    const agents = [
      ...rows.map(({ figures }) => figures.agent),
      ...missing.map((one) => `local:${modelOf(one)}`),
    ].map((agent) => `--agent ${quoted(portable(agent, workspace))}`);
    return [
      `tandem evaluate --tasks ${shown(path.join(run.folder, packOf(setting)))}`,
      ...agents,
      `--simulator ${quoted(portable(setting.simulator, workspace))} --mode ${setting.mode}`,
      `--rollouts ${setting.rollouts} --seed ${setting.seed} --temperature ${setting.temperature}`,
      `--max-tokens ${setting.max_tokens} --max-turns ${setting.max_turns} --reply-limit ${setting.reply_limit}`,
    ].join(' \\\n  ');
  });
  return [
    '## The same again',
    'In the folder of the workspace; a run’s rows and the tasks of an evaluation are in its folder.',
    ['```sh', ...train, ...evaluate, '```'].join('\n'),
  ];
}

const quoted = (text: string): string =>
  /^[\w./:@=…-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

const picture = (alt: string, folder: string, file: string): string =>
  `![${alt}](${[...folder.split('/').map(encodeURIComponent), file].join('/')})`;

/** Replaces folders outside the workspace, which are private. */
const ELSEWHERE = '…';

/**
 * Makes a text fit to leave this machine: an absolute path becomes relative to the workspace, or its last part if it
 * lies outside; an address loses user, password and query.
 * @param workspace an absolute folder
 */
export function portable(text: string, workspace: string): string {
  if (isAbsolute(text)) return shownFrom(text, workspace);
  const local = /^(local:|script:)(.+)$/s.exec(text);
  if (local !== null) return `${local[1]!}${portable(local[2]!, workspace)}`;
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//').replaceAll(/(https?:\/\/[^\s?#]*)[?#]\S*/g, '$1');
}

function portableValue(value: unknown, workspace: string): unknown {
  if (typeof value === 'string') return portable(value, workspace);
  if (Array.isArray(value)) return value.map((one) => portableValue(one, workspace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, portableValue(inside, workspace)]),
  );
}

/** Also paths of the other kind of system: a run may have been made there. */
const isAbsolute = (text: string): boolean => path.posix.isAbsolute(text) || path.win32.isAbsolute(text);

function shownFrom(file: string, workspace: string): string {
  const relative = path.relative(workspace, file).replaceAll('\\', '/');
  const isInside = workspace !== '' && relative !== '' && !relative.startsWith('..') && !isAbsolute(relative);
  if (isInside) return relative;
  const last = file.split(/[\\/]/).findLast((part) => part !== '') ?? '';
  return `${ELSEWHERE}/${last}`;
}
