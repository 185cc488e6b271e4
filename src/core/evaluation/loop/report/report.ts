import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { runFiles, runsFolderOf } from '../../../training/runFolder';
import { writeAtomically } from '../../../trajectory/files';
import type { TrajectoryLog } from '../../../trajectory/log';
import type { LoopPlan, LoopResult } from '../plan';
import type { Reported } from '../record';
import { learningPicture } from '../../pictures/curves';
import { EventTail } from '../../../training/eventFile';
import { RunHistory } from '../../../training/history/history';
import { habitsPicture, PICTURES, successPicture } from './pictures';
import { grouped } from '../../../text';
import { points, rate } from '../../words';
import { cell, fenced, markdownTable, escaped } from '../../../markdown';
import type { TrainedComparison, TrainedComparisons } from '../comparison';
import { earlierTable, habitTable, outcomeTable, successInWords, verdictOf } from '../../report/loop';
import { tableInMarkdown } from '../../report/table';
import { parseAgentMessage } from '../../../dialogue/protocol';
import type { World } from '../../../task/starter/splits';
import { isProgram, type Task } from '../../../task/task';
import type { Trajectory } from '../../../trajectory/trajectory';

const REPORT = 'report.md';

export async function writeReport(
  result: Omit<LoopResult, 'report'>,
  plan: LoopPlan,
  log: TrajectoryLog,
): Promise<Reported> {
  const { folder, data, run, comparisons } = result;
  const history = await historyOf(join(runsFolderOf(data), run));
  const example = await exampleOf(comparisons.greedy.example, log);
  const pictures: Readonly<Record<string, string>> = {
    success: successPicture(comparisons),
    habits: habitsPicture(comparisons),
    ...Object.fromEntries(
      history.trained.map((stage) => [stage, learningPicture(stage, [{ name: run, history }])]),
    ),
  };
  await rm(join(folder, PICTURES), { recursive: true, force: true });
  await mkdir(join(folder, PICTURES), { recursive: true });
  for (const [name, svg] of Object.entries(pictures)) {
    await writeAtomically(join(folder, PICTURES, `${name}.svg`), svg);
  }
  const page = pageOf({ ...result, plan, history, ...(example && { example }) });
  await writeAtomically(join(folder, REPORT), page);
  return { report: REPORT };
}

async function historyOf(runFolder: string): Promise<RunHistory> {
  const history = new RunHistory();
  const tail = new EventTail(join(runFolder, runFiles.events));
  try {
    await history.read(tail);
  } finally {
    await tail.close();
  }
  return history;
}

async function exampleOf(
  chosen: LoopResult['comparisons']['greedy']['example'],
  log: TrajectoryLog,
): Promise<Example | undefined> {
  if (chosen === undefined) return undefined;
  const before = await log.trajectory(chosen.before);
  const after = await log.trajectory(chosen.after);
  return before && after && { before, after };
}

export interface LoopReport extends Omit<LoopResult, 'report'> {
  readonly plan: Pick<LoopPlan, 'packs' | 'world' | 'settings' | 'seed' | 'agent' | 'simulator'>;
  readonly history: RunHistory;
  readonly example?: Example;
}

export function pageOf(told: LoopReport): string {
  const parts = [
    result(told),
    habits(told),
    learning(told),
    example(told),
    settings(told),
    commands(told),
    places(told),
  ];
  return `${parts.flat().join('\n\n')}\n`;
}

function result({ comparisons, plan }: LoopReport): string[] {
  const { sampled, greedy } = comparisons;
  return [
    `# ${verdictOf(comparisons)}: success ${rate(sampled.before.success?.mean)} → ${rate(sampled.after.success?.mean)}`,
    `On ${sampled.success.tasks} held-out tasks: **${successInWords('sampled', sampled)}**; ` +
      `${successInWords('greedy', greedy)}. ${meaning(comparisons)}`,
    tableInMarkdown(outcomeTable(comparisons, plan.world)),
    'In brackets 95 % intervals: of rates Wilson’s over tasks, of differences the bootstrap over tasks, each task ' +
      'compared with itself under the same seeds. *Sampled* is the play that was trained, *greedy* always takes the ' +
      `likeliest token. Tasks that greedy play solved only afterwards: ${greedy.gained}; only before: ${greedy.lost}.`,
    picture('Success before and after, sampled and greedy, with intervals', 'success'),
    ...earlierLessons(comparisons),
  ];
}

function earlierLessons({ earlier }: TrainedComparisons): string[] {
  if (earlier === undefined) return [];
  const worse = earlier.flatMap(({ title, worse: habits = [] }) =>
    habits.length === 0 ? [] : [`**Worse on ${escaped(title)}**, per dialogue: ${habits.join('; ')}.`],
  );
  return [
    '## What it had learned before',
    'The agent before and after this lesson, both greedy, on tasks of the lessons before it.',
    tableInMarkdown(earlierTable(earlier)),
    ...worse,
  ];
}

function meaning({ sampled, greedy }: TrainedComparisons): string {
  const { interval } = sampled.success;
  if (interval === null) return 'So few tasks say nothing about others.';
  const isOpen = interval.low <= 0 && interval.high >= 0;
  if (isOpen) {
    return `The difference of sampled play may lie anywhere from ${points(interval.low)} to ${points(interval.high)} points; more held-out tasks would say more.`;
  }
  const isSharpening = interval.low > 0 && (greedy.success.interval?.low ?? 0) <= 0;
  return isSharpening
    ? 'Part of a gain that only sampled play shows may be that the agent wavers less, not that it does something else.'
    : '';
}

function habits({ comparisons, plan: { world } }: LoopReport): string[] {
  return [
    '## What it does differently',
    picture(`${HABITS_DRAWN[world]} per dialogue, before and after`, 'habits'),
    'Per dialogue; *turn limit*: the share that ran out of turns or context.',
    tableInMarkdown(habitTable(comparisons, world)),
    HABIT_WORDS[world],
    ...worse('sampled', comparisons.sampled),
    ...worse('greedy', comparisons.greedy),
  ];
}

const worse = (play: string, { worse: habits = [] }: TrainedComparison): string[] =>
  habits.length === 0 ? [] : [`**Worse in ${play} play**, per dialogue: ${habits.join('; ')}.`];

const HABITS_DRAWN: Readonly<Record<World, string>> = {
  functions: 'Turns, missed decisions and useless questions',
  pages: 'Turns',
  'twenty-questions': 'Turns, useless questions and questions lost',
};

const HABIT_WORDS: Readonly<Record<World, string>> = {
  functions:
    'A *missed decision* is something that only the collaborator knew and was never asked about; a *useless question* ' +
    'is about no decision of the task, or about one that was asked about before. *Ask-F1* is the harmonic mean of ' +
    'precision, the share of questions that are not useless, and recall, the share of decisions that were asked about; ' +
    'in brackets the 95 % bootstrap interval over tasks.',
  pages:
    '*Told and applied* is the share of what a reply told that the next draft has right; a redraft *loses something* that ' +
    'the draft before had right.',
  'twenty-questions':
    '*Questions lost* are the expected questions more than the best decision tree would ask; a question tells at most one ' +
    'bit. A *useless question* was asked before, or is about no attribute.',
};

function learning({ history, collected, plan }: LoopReport): string[] {
  const rankings = history.rankings.map(({ histories, candidates, rank_correlation }) =>
    [
      `The critic ranked ${grouped(candidates)} turns that could follow ${grouped(histories)} beginnings of dialogues`,
      ...(rank_correlation == null
        ? []
        : [
            `, in an order that agrees with the untrained score’s, the control, at ρ = ${rank_correlation.toFixed(2).replace('-', '−')}`,
          ]),
      '.',
    ].join(''),
  );
  return [
    '## How it learned',
    `From ${grouped(collected.dialogues)} dialogues of its own, of which ${grouped(collected.successes)} succeeded. ${rankings.join(' ')}`,
    ...history.trained.map((stage) => {
      const steps = history.curves(stage, 'loss')?.training.all.at(-1)?.to ?? 0;
      return picture(`Learning curves of the ${stage} over ${steps} steps`, stage);
    }),
    ...(plan.settings.training.method === 'distill' ? [DISTILLED] : []),
    ...(plan.world === 'functions' ? [SCOREBOARD] : []),
  ];
}

const DISTILLED =
  'By distillation: the agent before the training, which reads the hidden information only to choose what it asks, ' +
  'taught the agent that plays without it. No grade was needed.';

const SCOREBOARD =
  'How much the same dialogues teach by other methods is what the scoreboard (`npm run study -- scoreboard` in the ' +
  'repository) measures.';

function example({ example: shown, comparisons: { greedy } }: LoopReport): string[] {
  if (shown === undefined) return [];
  const why =
    greedy.gained > 0
      ? `the first task that was solved only after training (${greedy.gained} in all)`
      : greedy.lost > 0
        ? 'none was solved only after training; this is the first that was solved only before'
        : 'the first one, as no task was solved only before or only after';
  return ['## One task, before and after', `Greedy play; ${why}.`, exampleInMarkdown(shown)];
}

function settings({ plan, tasks, precision, stages, comparisons }: LoopReport): string[] {
  const { packs, settings: chosen, seed, agent, simulator } = plan;
  const { difficulty, rollouts, evaluationRollouts, temperature, maxTokens, protocol, training } = chosen;
  const source =
    packs.length === 0
      ? `the starter world, ${plan.world}, ${difficulty}: train and development split, which share no ${plan.world === 'twenty-questions' ? 'figure' : 'structure'}`
      : `${packs.map(cell).join(', ')}, split by task`;
  const rows = [
    ['agent', cell(agent.name)],
    ['collaborator', cell(simulator)],
    ['tasks', `${tasks.train} to learn from, ${tasks.heldOut} held out; ${source}`],
    [
      'dialogues per task',
      `${rollouts} to learn from; to measure ${evaluationRollouts} sampled and 1 greedy`,
    ],
    [
      'play',
      `at most ${protocol.maxTurns} turns of ${maxTokens} tokens, replies of ${protocol.replyLimit} characters, temperature ${temperature}`,
    ],
    ['precision', `${precision} before and after, so that the two differ by the training alone`],
    ['grading', comparisons.sampled.before.mode],
    ['seed', String(seed)],
    ...stages.map(({ name, seconds, isSkipped }) => [
      `time: ${name}`,
      `${minutes(seconds)}${isSkipped ? ', of an earlier call' : ''}`,
    ]),
  ];
  return [
    '## Settings',
    markdownTable(['what', 'how'], rows),
    'What the trainer was told besides its defaults:',
    fenced(JSON.stringify(training, undefined, 2), 'json'),
  ];
}

function commands({ model, folder, data, run, plan }: LoopReport): string[] {
  const shown = shownFrom(model);
  const [kind, again] =
    plan.world === 'functions' ? ['', ''] : [` --kind ${plan.world}`, ` --world ${plan.world}`];
  const others =
    plan.packs.length > 0
      ? []
      : [
          '# both agents on other tasks',
          `tandem world other.jsonl${kind} --tasks 300 --split development --seed 1`,
          `tandem evaluate --tasks other.jsonl --agent ${plan.agent.name} --agent local:${shown} --simulator ${plan.simulator} --max-turns ${plan.settings.protocol.maxTurns}`,
        ];
  return [
    '## Play with it',
    `In the editor: **Tandem: Choose Agent…**, then this folder: \`${shown}\`. In a terminal:`,
    [
      '```sh',
      ...others,
      '# it goes on learning: another loop that begins with it',
      `tandem loop${again} --agent local:${shown} --out ${shownFrom(folder)}-again`,
      '# what the training did',
      `tandem runs ${run} --data ${shownFrom(data)}`,
      '```',
    ].join('\n'),
  ];
}

function places({ folder, data, model, run }: LoopReport): string[] {
  const link = (place: string, name: string): string =>
    `[${name}](${relative(folder, place).replaceAll('\\', '/')})`;
  return [
    '## Where everything is',
    markdownTable(
      ['where', 'what'],
      [
        [link(model, 'model/'), 'the new model'],
        ['[tasks/](tasks)', 'the tasks to learn from, and those held out'],
        [link(join(data, 'log'), 'log/'), 'every dialogue'],
        [
          link(join(runsFolderOf(data), run), `runs/${run}/`),
          'the training: its configuration, its events, its checkpoints',
        ],
        ['[loop.json](loop.json)', 'what each stage was done with, and what it gave'],
      ],
    ),
  ];
}

const minutes = (seconds: number): string =>
  seconds < 60 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`;

/** Relative to the working folder where that is shorter to read. */
function shownFrom(path: string): string {
  const short = relative(process.cwd(), path);
  return (short === '' || short.startsWith('..') ? path : short).replaceAll('\\', '/');
}

const picture = (alt: string, name: string): string => `![${alt}](${PICTURES}/${name}.svg)`;

interface Example {
  readonly before: Trajectory;
  readonly after: Trajectory;
}

function exampleInMarkdown({ before, after }: Example): string {
  return [
    quoted(before.task.description),
    `#### Before: ${outcomeOf(before)}`,
    dialogueOf(before),
    `#### After: ${outcomeOf(after)}`,
    dialogueOf(after),
    '<details><summary>What was wanted: the hidden reference</summary>',
    source(before.task, before.task.reference),
    '</details>',
  ].join('\n\n');
}

function outcomeOf({ task, grades }: Trajectory): string {
  const grade = grades.at(-1)?.grade;
  if (!isProgram(task)) {
    const checks = task.checks?.length ?? 0;
    return `${Math.round((grade?.reward ?? 0) * checks)} of ${checks} checks passed`;
  }
  const tests = grade?.tests ?? [];
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return `${passed} of ${tests.length} tests passed`;
}

function dialogueOf({ task, turns, answer }: Trajectory): string {
  return turns
    .flatMap(({ agent, reply }) => {
      if (reply === undefined)
        return [`**agent answers**\n\n${source(task, codeOf(answer?.answer ?? agent.text))}`];
      if (!isProgram(task)) return ['**agent** shows a page', `**collaborator** ${oneLine(reply.text)}`];
      return [
        `**agent** ${oneLine(parseAgentMessage(agent.text).visible)}`,
        `**collaborator** ${oneLine(reply.text)}`,
      ];
    })
    .join('\n\n');
}

const FENCE = /^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/;

const codeOf = (answer: string): string => FENCE.exec(answer)?.[1] ?? answer;

const source = (task: Task, code: string): string => fenced(code.trim(), isProgram(task) ? 'python' : 'html');

const quoted = (text: string): string =>
  escaped(text)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

const oneLine = (text: string): string => escaped(text.replaceAll(/\s+/g, ' ').trim());
