import path from 'node:path';
import type { Estimate } from '../../evaluation/figures';
import { percent } from '../../evaluation/words';
import { escaped } from '../../loop/report/example';
import { difference } from '../../loop/verdict';
import { runFiles } from '../../training/runFolder';
import { differencesOf } from '../configurations';
import { controlsOf } from '../control';
import type { RunRecord } from '../experiment';
import { packOf, type Setting } from '../../loop/kept';
import type { Standing } from '../standings';
import { portable, portableValue } from './portable';

/** Everything that the report tells of. */
export interface Experiment {
  readonly records: readonly RunRecord[];
  /** Of the runs, in their order, all different. */
  readonly names: readonly string[];
  readonly standings: readonly Standing[];
  /** Absolute: paths in it are written from there, of others only the last part. */
  readonly workspace: string;
  /** From the page, with `/`. */
  readonly pictures: string;
}

/** The whole report as Markdown: what came out first, then how, then with what. */
export function pageOf(experiment: Experiment): string {
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

/** The files of the pictures, by what they show. */
export const pictureOf = {
  standing: ({ key }: Setting): string => `success-${key}.svg`,
  stage: (stage: string): string => `${stage.replaceAll(/[^\w-]/g, '_')}.svg`,
};

export const stagesOf = (records: readonly RunRecord[]): string[] => [
  ...new Set(records.flatMap(({ history }) => history.trained)),
];

function results({ standings, names, workspace, pictures }: Experiment): string[] {
  const heading = '## Held-out success';
  if (standings.length === 0) return [heading, 'Not evaluated yet.'];
  return [
    heading,
    ...standings.flatMap((standing) => {
      const { rows, setting } = standing;
      const first = rows.find(({ run }) => run !== undefined)?.run ?? 0;
      return [
        `${inWords(setting, workspace)}:`,
        table(
          [
            'model',
            'success',
            'Δ vs. base (points)',
            `Δ vs. ${names[first]!} (points)`,
            'tests passed',
            'turns',
          ],
          rows.map(({ run, figures, againstStart, againstFirst }) => [
            run === undefined ? `base model, ${portable(figures.agent, workspace)}` : names[run]!,
            estimate(figures.success),
            againstStart === undefined ? '' : difference(againstStart.success),
            againstFirst === undefined ? '' : difference(againstFirst.success),
            estimate(figures.testsPassed),
            figures.meanTurns?.toFixed(1) ?? '–',
          ]),
        ),
        picture('Success with intervals', pictures, pictureOf.standing(setting)),
      ];
    }),
    'In brackets 95 % intervals: of rates Wilson’s over tasks; of differences, in percentage points, the bootstrap over ' +
      'tasks, each task compared with itself under the same seeds, and the p-value of a sign-flip test.',
  ];
}

function inWords(setting: Setting, workspace: string): string {
  const { title, tasks, simulator, mode, rollouts, temperature, seed, max_turns, reply_limit } = setting;
  const play = temperature === 0 ? 'greedy' : `temperature ${temperature}`;
  return (
    `${escaped(title)}, ${tasks} tasks, ${rollouts} ${rollouts === 1 ? 'dialogue' : 'dialogues'} each, ${play}, seed ${seed}; ` +
    `the collaborator is ${escaped(portable(simulator, workspace))}, at most ${max_turns} turns and replies of ${reply_limit} characters; grading ${mode}`
  );
}

/** What was trained on what. */
function runs({ records, names }: Experiment): string[] {
  return [
    '## Runs',
    table(
      ['run', 'method', 'model', 'training data', 'state', 'started', 'id'],
      records.map(({ run, history }, index) => [
        names[index]!,
        run.method,
        `${baseOf(run.base)}${run.commit === undefined ? '' : ` at ${run.commit}`}`,
        learnedFrom(history.data ?? run.selection),
        standingOf(run),
        run.startedAt.slice(0, 16).replace('T', ' '),
        run.id,
      ]),
    ),
  ];
}

/** Of one that was finished early, what its configuration does not tell. */
function standingOf({ state, progress }: RunRecord['run']): string {
  const ended = progress?.ended;
  return ended === undefined
    ? state
    : `${state}, ended at step ${count(ended.step)} of ${count(ended.steps)} of ${ended.stage}`;
}

/** The name of a hub stays whole. */
const baseOf = (base: string): string => portable(base, '').replace(/^…\//, '');

function learnedFrom(
  data: { readonly trajectories: number; readonly tasks: number; readonly successes: number } | undefined,
): string {
  if (data === undefined) return '–';
  const { trajectories, tasks, successes } = data;
  return `${count(trajectories)} dialogues of ${count(tasks)} tasks, ${count(successes)} successes`;
}

function configurations({ records, names, workspace }: Experiment): string[] {
  const portables = records.map(({ configuration }) => portableValue(configuration, workspace));
  const differences = differencesOf(portables);
  return [
    ...(records.length === 1
      ? ['## Configuration']
      : [
          '## What differs in the configurations',
          differences.length === 0
            ? 'Nothing but names and data.'
            : table(
                ['setting', ...names],
                differences.map(({ field, values }) => [field, ...values.map((value) => value ?? 'default')]),
              ),
        ]),
    ...portables.flatMap((configuration, index) => [
      `<details><summary>All of ${escaped(names[index]!)}</summary>`,
      `\`\`\`json\n${JSON.stringify(configuration, undefined, 2)}\n\`\`\``,
      '</details>',
    ]),
  ];
}

function learning({ records, pictures }: Experiment): string[] {
  const stages = stagesOf(records);
  if (stages.length === 0) return [];
  return [
    '## How they learned',
    ...stages.map((stage) =>
      picture(`Learning curves of the stage ${stage}`, pictures, pictureOf.stage(stage)),
    ),
  ];
}

function controls({ records, names }: Experiment): string[] {
  const rows = records.flatMap(({ history }, index) =>
    controlsOf(history).map((control) => [
      names[index]!,
      control.stage,
      control.accuracy === null ? '–' : percent(control.accuracy),
      control.untrainedAccuracy === null ? '–' : percent(control.untrainedAccuracy),
      control.pairs === null ? '–' : count(control.pairs),
      number(control.correlation, 2),
      number(control.spread, 3),
      number(control.untrainedSpread, 3),
      control.candidates === null ? '–' : count(control.candidates),
    ]),
  );
  if (rows.length === 0) return [];
  return [
    '## Critics vs. untrained baseline',
    table(
      [
        'run',
        'stage',
        'held-out pair accuracy',
        'untrained baseline',
        'pairs',
        'rank correlation with the untrained baseline',
        'score std. dev., critic',
        'score std. dev., untrained',
        'turns ranked',
      ],
      rows,
    ),
    'The untrained baseline is the score of the same model before training. A critic should beat it on held-out pairs and ' +
      'order turns differently; at a rank correlation of 1 both order the turns alike.',
  ];
}

/** To be run in the workspace. */
function commands({ records, standings, workspace }: Experiment): string[] {
  const shown = (file: string): string => quoted(portable(file, workspace));
  const train = records.flatMap(({ run: { folder } }) => [
    `tandem train ${shown(path.join(folder, runFiles.configuration))} --data ${shown(path.dirname(path.dirname(folder)))} --follow`,
  ]);
  const evaluate = standings.map(({ setting, rows }) => {
    const run = records[rows.find((row) => row.run !== undefined)!.run!]!.run;
    const agents = rows.map(({ figures }) => `--agent ${quoted(portable(figures.agent, workspace))}`);
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

const count = (value: number): string => value.toLocaleString('en');

const number = (value: number | null, digits: number): string =>
  value === null ? '–' : value.toFixed(digits).replace('-', '−');

const picture = (alt: string, folder: string, file: string): string =>
  `![${alt}](${[...folder.split('/').map(encodeURIComponent), file].join('/')})`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const cell = (text: string): string => escaped(text.replaceAll(/\s+/g, ' '));

function estimate(value: Estimate | null): string {
  if (value === null) return '–';
  const { mean, interval } = value;
  return `${percent(mean)} [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
}
