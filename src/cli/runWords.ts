import { doubtInWords, OWN_CODE_IN_WORDS } from '../core/trajectory/export/selection';
import type { Plan } from '../core/training/checks';
import type { SelectionReport } from '../core/training/data/report';
import {
  figuresInTerminal,
  playsItself,
  type TrainerEvent,
  type TrainerEventOf,
} from '../core/training/events';
import { worseIn, type RunResult } from '../core/evaluation/comparison/measuredRuns';
import type { KeptEvaluation } from '../core/evaluation/loop/evaluationCache';
import { figure, habitInWords, percent, points } from '../core/evaluation/words';
import type { Run } from '../core/training/runs';
import type { Preparing } from '../core/training/start';
import { present } from '../core/text';
import { duration, table } from './terminal';

export const preparing: Readonly<Record<Preparing, string>> = {
  data: 'Taking the data from the log',
  checks: 'Checking configuration and machine',
  plan: 'Planning',
  launch: 'Launching the trainer',
};

export function runTable(runs: readonly Run[], resultOf: (run: Run) => RunResult | undefined): string {
  const head = ['run', 'state', 'stage', 'step', 'left', 'success', 'method', 'name', 'tags'];
  const rows = runs.map((run) => [
    ...[run.id, ...stateColumns(run), resultInWords(resultOf(run))],
    ...[run.method, run.name, run.tags?.join(', ') ?? ''],
  ]);
  return table([head, ...rows]);
}

/** `22.0 % → 48.0 %, +26.0 points [+18.0, +34.0]`; empty without an evaluation. */
function resultInWords(result: RunResult | undefined): string {
  const { mean } = result?.model.figures.success ?? {};
  if (mean === undefined) return '';
  const before = result?.start?.figures.success?.mean;
  if (before === undefined) return percent(mean);
  const { interval } = result!;
  const range = interval ? ` [${points(interval.low)}, ${points(interval.high)}]` : '';
  return `${percent(before)} → ${percent(mean)}, ${points(mean - before)} points${range}`;
}

function stateColumns({ state, progress, isLive }: Run): string[] {
  const { stage = '', step, steps, part, secondsLeft } = progress ?? {};
  return [
    state,
    part === undefined ? stage : workOf(stage, part.name),
    part !== undefined ? `${part.done}/${part.total}` : step === undefined ? '' : `${step}/${steps}`,
    isLive && secondsLeft !== undefined ? duration(secondsLeft) : '',
  ];
}

export function runInFull(run: Run, kept: readonly KeptEvaluation[]): string {
  const { id, name, method, base, commit, state, message, progress, folder, selection, lastLines } = run;
  const { tags, note, role } = run;
  const { latest, heldOut } = progress ?? {};
  return present([
    `${id}${name === '' ? '' : ` (${name})`}: ${state}${message === undefined ? '' : `. ${message}`}`,
    `${method}${role === undefined ? '' : ` of the ${role}`} on ${base}${commit === undefined ? '' : ` at commit ${commit}`}; folder ${folder}`,
    tags && `Tags: ${tags.join(', ')}.`,
    note && `Note: ${note}`,
    selection && dataInWords(selection),
    latest && eventInWords(latest),
    heldOut && eventInWords(heldOut),
    ...kept.flatMap(askingInWords),
    ...kept.flatMap(worseInWords),
    ...(lastLines.length === 0 ? [] : ['The trainer said last:', ...lastLines.map((line) => `  ${line}`)]),
    run.canResume && state !== 'lost' && `\`tandem resume ${id}\` goes on with it.`,
  ]).join('\n');
}

function askingInWords({ setting: { title, tasks, temperature }, model, start }: KeptEvaluation): string[] {
  const { askF1 } = model.figures;
  if (!askF1) return [];
  const two = (value: number): string => value.toFixed(2);
  const before = start?.figures.askF1;
  return [
    `Ask-F1 on ${title}, ${tasks} tasks${temperature === 0 ? ', greedy' : ''}: ${before ? `${two(before.value)} → ` : ''}${figure(askF1, two)}.`,
  ];
}

function worseInWords(kept: KeptEvaluation): string[] {
  const worse = worseIn(kept);
  const { title, tasks, temperature } = kept.setting;
  return worse.length === 0
    ? []
    : [
        `Worse than its base model on ${title}, ${tasks} tasks${temperature === 0 ? ', greedy' : ''}, per dialogue: ${worse.map(habitInWords).join('; ')}.`,
      ];
}

export function dataInWords({
  trajectories,
  tasks,
  successes,
  left_out,
  other_prompts,
  kept_local = 0,
  feedback,
  trained_on,
}: SelectionReport): string {
  return present([
    `Data: ${trajectories} trajectories of ${tasks} tasks, ${successes} of them successes.`,
    feedback &&
      `Feedback: ${Object.entries(feedback)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}.`,
    ...Object.entries(left_out).map(([reason, count]) => `Left out: ${count} ${reason}.`),
    left_out.doubtful !== undefined && doubtInWords(left_out.doubtful, 'data.with_doubtful'),
    left_out['about own code'] !== undefined && OWN_CODE_IN_WORDS,
    kept_local > 0 &&
      `${kept_local} are of people who keep them on this machine: the model may repeat them, so do not give it away.`,
    other_prompts > 0 &&
      `${other_prompts} were played with another agent.md; give it as data.opening to train on what the agent saw.`,
    ...(trained_on?.shortages.map(({ sentence }) => `Few data: ${sentence}`) ?? []),
  ]).join('\n');
}

export function planInWords(plan: Plan): string {
  const { machine, training, token_budget, checkpoint_activations, largest, room, needed, disk } = plan;
  const basis = machine.measured ? 'measured' : 'estimated';
  const activations = checkpoint_activations ? 'computed twice' : 'kept';
  const ofEach = machine.processes === 1 ? '' : ` for each of ${machine.processes} processes`;
  const time = (seconds: number | null): string =>
    seconds === null ? 'not known' : `${duration(seconds)} (${basis})`;
  const lines = [
    ['device', `${machine.name}, ${machine.dtype}`],
    ['training', `${training}, micro-batches of ${token_budget} tokens, activations ${activations}`],
    ['largest', `example of ${largest} tokens; one of ${room} would fit`],
    [
      'memory',
      `${gibibytes(needed)} of ${machine.usable === null ? 'an unknown amount' : gibibytes(machine.usable)}${ofEach}`,
    ],
    ['disk', gibibytes(disk)],
    ...Object.entries(plan.seconds).map(([stage, seconds]) => [stage, time(seconds)]),
    ['all', time(plan.total_seconds)],
    ['fits', plan.fits ? 'yes' : 'no'],
    ...plan.advice.map((sentence) => ['to do', sentence]),
    ...plan.data.shortages.map(({ sentence }) => ['few data', sentence]),
  ];
  return lines.map(([name, text]) => `${name!.padEnd(11)} ${text!}`).join('\n');
}

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** Undefined for events that are not shown. */
export function eventInWords(event: TrainerEvent): string | undefined {
  switch (event.event) {
    case 'state':
      return present([`${event.stage ?? 'run'}: ${event.state}`, event.message]).join('. ');
    case 'step':
      return stepInWords(event);
    case 'progress':
      return `${workOf(event.stage, event.part)}: ${event.done}/${event.total}${leftOf(event.seconds_left)}`;
    case 'evaluation':
      return `${event.stage} ${event.step}: held out ${figures(event, figuresInTerminal)}${event.best === true ? ', the best' : ''}`;
    case 'control':
      return `${event.stage}: untrained baseline, held out ${figures(event, ['accuracy'])} on ${event.examples} pairs`;
    case 'gains':
      return `${event.stage}: credits against the gains of drafts, held out ${figures(event, GAINED)} over ${event.dialogues} dialogues`;
    case 'data':
      if (playsItself(event)) return `data: ${event.tasks} tasks to play`;
      return [
        `data: ${event.trajectories} trajectories of ${event.tasks} tasks, ` +
          `${event.turns_as_sampled} of ${event.turns} turns with their sampled tokens`,
        ...Object.entries(event.left_out).map(([reason, count]) => `left out: ${count} ${reason}`),
      ].join('; ');
    case 'candidates':
      return `${event.stage}: ${event.candidates} candidates of ${event.histories} histories`;
    case 'ranking':
      return `${event.stage}: ${event.candidates} candidates of ${event.histories} histories; ${figures(event, RANKED)}`;
    case 'nodes':
      return `nodes: ${event.nodes.map(({ host, workers, state }) => `${host} ${workers > 0 ? workers : state}`).join(', ')} (${event.asked} workers asked for)`;
    case 'notice':
      return event.message;
    default:
      return undefined;
  }
}

/** Some stages have a single part with its own name. */
function workOf(stage: string, part: string): string {
  return stage === part ? stage : `${stage} ${part}`;
}

function stepInWords(event: TrainerEventOf<'step'>): string {
  return `${event.stage} ${event.step}/${event.steps}: ${figures(event, figuresInTerminal)}${leftOf(event.seconds_left)}`;
}

function leftOf(seconds: number | null | undefined): string {
  return seconds == null ? '' : `, ${duration(seconds)} left`;
}

const RANKED = ['spread', 'untrained_spread', 'rank_correlation'];
const GAINED = ['rank_correlation', 'low', 'high', 'untrained_rank_correlation'];

function figures(event: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  return names
    .flatMap((name) => {
      const value = event[name];
      return typeof value === 'number' ? [`${name.replaceAll('_', ' ')} ${rounded(value)}`] : [];
    })
    .join(', ');
}

/** To four significant digits; from 1,000 to a whole number. */
function rounded(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toString() : Number(value.toPrecision(4)).toString();
}
