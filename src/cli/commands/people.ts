import path from 'node:path';
import { PackAssignment, partsFor } from '../../core/dialogue/packAssignment';
import { SharedTaskIds, TaskProgress } from '../../core/dialogue/taskProgress';
import { loadTasks, packsBeside } from '../../core/task/pack';
import { listIn } from '../../core/text';
import { assigning } from '../../core/trajectory/assignments';
import { MAX_PLAYERS } from '../../core/trajectory/event';
import { wholeNumber, wrongUse, type CliContext, type CommandResult, type Install } from '../command';
import { withLog, openClip, openPages, Opened } from '../resources';
import { dataOption } from '../play';
import { table, tableInWords } from '../terminal';
import { agreementIn, type PeoplesAgreement } from '../../core/evaluation/people/agreement';
import { PeoplesOpinions, type Opinions } from '../../core/evaluation/people/opinions';
import { PageChoices, unlessUndrawn, type PeopleAndMeasures } from '../../core/evaluation/people/measures';
import { inEnglish } from '../../core/evaluation/report/table';
import {
  alphaTable,
  measuresNote,
  measuresTable,
  peopleNotes,
  peopleTable,
} from '../../core/evaluation/report/people';
import { AskedDialogues } from '../../core/evaluation/askedDialogues';
import type { Figure } from '../../core/evaluation/interval';
import { figuresOf } from '../../core/evaluation/statistics';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { Judgements, leaderboardOf, type Leaderboard } from '../../core/evaluation/leaderboard/leaderboard';
import { leaderboardNotes, leaderboardTable } from '../../core/evaluation/report/leaderboard';

interface AssignOptions {
  readonly data: string;
  readonly to?: string;
  readonly perTask: number;
  readonly nobody?: boolean;
}

export const installAssign: Install = (program, perform) => {
  program
    .command('assign')
    .description('assign the tasks of a pack to people, or show each person’s progress')
    .argument('<file>', 'the pack; the log knows it by its file name')
    .addOption(dataOption())
    .option(
      '--to <people>',
      'pseudonyms with commas between them, in any order: the same people get the same tasks again, others new parts',
    )
    .option('--per-task <n>', 'how many of them play each task', wholeNumber('--per-task', 1), 1)
    .option('--nobody', 'assign it to no one; what was played stays')
    .action(perform(assign));
};

async function assign(file: string, options: AssignOptions, { signal }: CliContext): Promise<CommandResult> {
  const { data } = options;
  const people = peopleIn(options);
  const { tasks } = await loadTasks(file, { signal });
  const pack = path.basename(file);
  return withLog(data, signal, async (log) => {
    const played = log.valuesOf('pack').map(({ value }) => value);
    // Dialogues from a pack that is gone or was renamed count, as they do in the editor.
    const packs = [{ file, tasks }, ...(await packsBeside(file, played, { signal }))];
    const shared = new SharedTaskIds(packs, () => data);
    if (people !== undefined) {
      const parts = partsFor(pack, people, options.perTask, log.assigned.get(pack));
      await log.appendAll(assigning(pack, parts), { durable: true });
    }
    const [first, ...others] = log.assigned.get(pack) ?? [];
    const progress = new TaskProgress();
    progress.read(log);
    const assignment =
      first &&
      new PackAssignment(tasks, [first, ...others], (task) =>
        progress.states(task, ({ pack: from }) => shared.counts(from, { log: data, pack: file, task })),
      );
    const rows = assignment?.people.map((person) => ({ person, ...assignment.progressOf(person) })) ?? [];
    return {
      rows,
      summary: {
        ...{ data, pack, tasks: tasks.length },
        ...(assignment && { perTask: assignment.perTask, ...assignment.progress }),
      },
      print: () => (assignment === undefined ? `${pack} is assigned to no one.` : progressTable(assignment)),
    };
  });
}

/** None for `--nobody`; undefined when nothing is to be changed. */
function peopleIn({ to, perTask, nobody }: AssignOptions): string[] | undefined {
  if (nobody === true) {
    if (to !== undefined) throw wrongUse('--to and --nobody contradict each other; give one of them.');
    return [];
  }
  if (to === undefined) return undefined;
  const people = [...new Set(listIn(to, ','))];
  if (people.length === 0) throw wrongUse('--to names no one; --nobody takes an assignment back.');
  if (people.length > MAX_PLAYERS) throw wrongUse(`--to names more than ${MAX_PLAYERS} people.`);
  if (perTask > people.length)
    throw wrongUse(`--per-task ${perTask} takes as many people, and --to names ${people.length}.`);
  return people;
}

function progressTable(assignment: PackAssignment<{ readonly id: string }>): string {
  const { people, perTask, progress } = assignment;
  return [
    table([
      ['person', 'done', 'of'],
      ...people.map((person) => {
        const { done, of } = assignment.progressOf(person);
        return [person, String(done), String(of)];
      }),
      ['all', String(progress.done), String(progress.of)],
    ]),
    perTask === 1 ? 'Each task is for 1 person.' : `Each task is for ${perTask} people.`,
  ].join('\n');
}

/** `--json` has all disagreements. */
const PRINTED = 20;

interface AgreementOptions {
  readonly data: string;
  readonly pack?: string;
  readonly browser?: string;
  /** True for the default folder. */
  readonly clip?: string | true;
}

interface Found extends PeoplesAgreement {
  /** Absent without choices between pages; a sentence where they cannot be drawn here. */
  readonly measures?: PeopleAndMeasures | string;
}

export const installAgreement: Install = (program, perform) => {
  program
    .command('agreement')
    .description(
      'what people played and judged, each with intervals; how far they agree (Krippendorff’s alpha), and where not',
    )
    .addOption(dataOption())
    .option('--pack <name>', 'only dialogues of this pack, by its file name')
    .option(
      '--browser <program>',
      'draws web pages, to compare measures with choices (default: a browser of this machine)',
    )
    .option(
      '--clip [folder]',
      'also compares the published measure of web pages, by CLIP (default: where tandem download clip puts it)',
    )
    .action(perform(agreement));
};

async function agreement(
  { data, pack, browser, clip: folder }: AgreementOptions,
  to: CliContext,
): Promise<CommandResult> {
  await using opened = new Opened();
  const pages = opened.add(openPages(to, browser));
  const clip =
    folder === undefined ? undefined : opened.add(openClip(to, folder === true ? undefined : folder));
  return await withLog(data, to.signal, async (log) => {
    const filter: TrajectoryFilter = pack === undefined ? {} : { pack };
    // People's agreement is known without a browser; that of the measures is not.
    const measures = await unlessUndrawn(new PageChoices().agreement(log, pages, filter, clip));
    const found: Found = { ...(await agreementIn(log, new PeoplesOpinions(), filter)), measures };
    const { disagreements, ...summary } = found;
    return { rows: disagreements, summary: { data, ...summary }, print: () => agreementInWords(found, data) };
  });
}

function measuresInWords(found: Found['measures']): string[] {
  if (found === undefined) return [];
  if (typeof found === 'string')
    return ['', `How measures of web pages agree with choices is not known: ${found}`];
  return ['', tableInWords(measuresTable(found)), inEnglish(measuresNote(found))];
}

function agreementInWords(found: Found, data: string): string {
  if (found.people.length === 0) return `No person has played or judged a dialogue in ${data}.`;
  return [
    tableInWords(peopleTable(found)),
    ...peopleNotes(found).map(inEnglish),
    '',
    tableInWords(alphaTable(found)),
    ...measuresInWords(found.measures),
    ...disagreementsInWords(found),
  ].join('\n');
}

function disagreementsInWords({ disagreements }: PeoplesAgreement): string[] {
  if (disagreements.length === 0) return [];
  const shown = disagreements.slice(0, PRINTED);
  const rest = disagreements.length - shown.length;
  return [
    '',
    table([
      ['they disagree on', 'dialogue', 'turn', 'who says what'],
      ...shown.map(({ kind, episode, turn, said }) => [
        kind,
        episode,
        turn === undefined ? '' : String(turn),
        said.map(({ by, value }) => `${by}: ${valueInWords(kind, value)}`).join(', '),
      ]),
    ]),
    ...(rest > 0 ? [`… and ${rest} more: --json lists all.`] : []),
  ];
}

function valueInWords(kind: keyof Opinions, value: number | string): string {
  if (kind !== 'choices' || typeof value === 'string') return String(value);
  return value === 0 ? 'first' : 'second';
}

export const installLeaderboard: Install = (program, perform) => {
  program
    .command('leaderboard')
    .alias('standing')
    .description(
      'models ranked by people’s choices between two candidates, Bradley–Terry strengths with intervals',
    )
    .addOption(dataOption())
    .action(perform(leaderboard));
};

async function leaderboard({ data }: { data: string }, { signal }: CliContext): Promise<CommandResult> {
  return withLog(data, signal, async (log) => {
    const found = leaderboardOf(await new Judgements().of(log));
    const { places, ...summary } = found;
    const askF1 = await askF1Of(
      log,
      places.map(({ model }) => model),
    );
    return {
      rows: places.map((place) => ({ ...place, askF1: askF1.get(place.model) ?? null })),
      summary: { data, ...summary },
      print: () => leaderboardInWords(found, askF1, data),
    };
  });
}

/** Of the dialogues in which each model is the only agent: those with choices have messages of several. */
async function askF1Of(log: TrajectoryLog, models: readonly string[]): Promise<ReadonlyMap<string, Figure>> {
  const asked = new AskedDialogues();
  const found = new Map<string, Figure>();
  for (const agent of models) {
    const rows = log.outlines({ agent, chosen: false });
    const { askF1 } = figuresOf(await asked.counted(log, rows, Number.POSITIVE_INFINITY));
    if (askF1 !== undefined) found.set(agent, askF1);
  }
  return found;
}

function leaderboardInWords(found: Leaderboard, askF1: ReadonlyMap<string, Figure>, data: string): string {
  if (found.choices === 0) {
    return `${data} has no finished dialogue with a choice between two candidates. Turn on tandem.candidates.show in the editor and play.`;
  }
  return [tableInWords(leaderboardTable(found, askF1)), ...leaderboardNotes(found).map(inEnglish)].join('\n');
}
