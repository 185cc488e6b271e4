import * as vscode from 'vscode';
import type { Check, Plan } from '../../../core/training/checks';
import type { DataCounts } from '../../../core/training/data/countData';
import { MIN_TASKS } from '../../../core/evaluation/paired';
import { isObject } from '../../../core/json';
import { feedbackOfRun, hasCritic, learnsFrom, rowsOfRun } from '../../../core/training/methods';
import type { Signal } from '../../../core/trajectory/export/selection';
import { grouped } from '../../../core/text';
import type { Shortage } from '../../../core/training/data/report';
import type { CheckView, DataView, EstimateView } from '../../../../webview/newRun/protocol';
import { bytesWords, dialogues, roughly } from '../../words';
import { stageWord } from '../../run/words';
import { leftOutWords } from './words';

const { t } = vscode.l10n;

type RunFields = Readonly<Record<string, unknown>>;

export interface Told {
  readonly counts?: DataCounts;
  readonly plan?: Plan;
  /** As far as it is known. */
  readonly configuration: RunFields;
  readonly isCounting: boolean;
  readonly isCollecting: boolean;
  /** Pack or rows that are used, before they are counted; empty for a log. */
  readonly source: string;
}

/** Counted in the log, then by the trainer once there is a plan. */
export function dataView(told: Told): DataView {
  const { counts, plan, configuration, isCounting, isCollecting, source } = told;
  if (learnsFrom(configuration) === 'tasks') return played(plan, source);
  const known = counts ?? plan?.data;
  return {
    type: 'data',
    ...{ isCounting, isCollecting },
    summary: known === undefined ? source : summaryOf(known, counts),
    figures:
      known === undefined
        ? []
        : [
            ...examples(told),
            {
              label: t('Turns'),
              value: grouped(known.turns),
              note: configuration.role === 'collaborator' ? t('of the collaborator') : t('of the agent'),
            },
            tokens(told),
            ...feedbackFigure(counts?.feedback),
          ],
    leftOut: [...Object.entries(counts?.leftOut ?? {}), ...Object.entries(plan?.data.left_out ?? {})].map(
      ([reason, count]) => ({ reason: leftOutWords(reason), count: grouped(count) }),
    ),
    problem: isCounting || counts === undefined ? '' : problemOf(counts, configuration),
    remarks: isCounting ? [] : remarksOf(told),
  };
}

function played(plan: Plan | undefined, pack: string): DataView {
  const { train, held_out: heldOut } = plan?.data.policy ?? {};
  return {
    ...{ type: 'data', isCounting: false, isCollecting: false, figures: [] },
    summary:
      train === undefined || heldOut === undefined
        ? pack
        : t('{0}: {1} tasks to play, {2} held out to measure', pack, grouped(train), grouped(heldOut)),
    ...{ leftOut: [], problem: '', remarks: [] },
  };
}

type Known = Pick<DataCounts, 'trajectories' | 'tasks' | 'successes'>;

/**
 * `240 dialogues of 24 tasks, 40 successes · 72 left out`, or `18 replies of 2 people in 9 dialogues`; a single reason is
 * named.
 */
function summaryOf({ trajectories, tasks, successes }: Known, counts?: DataCounts): string {
  const ofTasks = tasks === 1 ? t('of 1 task') : t('of {0} tasks', grouped(tasks));
  const won = successes === 1 ? t('1 success') : t('{0} successes', grouped(successes));
  const used =
    counts?.people === undefined || counts.people === 0
      ? `${dialogues(trajectories, t)} ${ofTasks}, ${won}`
      : repliesWords(counts.turns, counts.people, trajectories);
  const out = Object.entries(counts?.leftOut ?? {});
  const [first] = out;
  if (first === undefined) return used;
  const total = out.reduce((sum, [, count]) => sum + count, 0);
  return out.length === 1
    ? t('{0} · left out: {1} {2}', used, grouped(total), leftOutWords(first[0]))
    : t('{0} · {1} left out', used, grouped(total));
}

function repliesWords(count: number, people: number, trajectories: number): string {
  const replies = count === 1 ? t('1 reply') : t('{0} replies', grouped(count));
  const by = people === 1 ? t('1 person') : t('{0} people', grouped(people));
  return t('{0} of {1} in {2}', replies, by, dialogues(trajectories, t));
}

function examples({ counts, plan, configuration: run }: Told): DataView['figures'] {
  if (learnsFrom(run) !== 'pairs') return [];
  const planned = plan?.data[hasCritic(run) ? 'critic' : 'policy'];
  const pairs = planned === undefined ? counts?.pairs : planned.train + planned.held_out;
  if (pairs === undefined) return [];
  const note =
    planned === undefined
      ? t('better and worse')
      : t('{0} held out for evaluation', grouped(planned.held_out));
  return [{ label: t('Pairs'), value: grouped(pairs), note }];
}

/** `12`, with `10 thumbs, 2 choices` beside it; nothing where people left nothing. */
function feedbackFigure(feedback: DataCounts['feedback'] = {}): DataView['figures'] {
  const counted = Object.entries(feedback) as [Signal, number][];
  if (counted.length === 0) return [];
  const note = counted.map(([signal, count]) => `${grouped(count)} ${signalWords[signal]}`).join(', ');
  return [{ label: t('Feedback'), value: grouped(feedbackCount(feedback)), note }];
}

const feedbackCount = (feedback: DataCounts['feedback'] = {}): number =>
  Object.values(feedback).reduce((sum, count) => sum + count, 0);

const signalWords: Readonly<Record<Signal, string>> = {
  thumbs: t('thumbs'),
  choices: t('choices'),
  verdicts: t('verdicts on a critic'),
  edits: t('edited suggestions'),
  outcomes: t('turns before an outcome'),
};

function tokens({ counts, plan }: Told): DataView['figures'][number] {
  const label = t('Tokens');
  if (plan !== undefined)
    return { label, value: grouped(plan.data.tokens), note: t('as the model tokenizes them') };
  if (counts === undefined || counts.uncounted === counts.turns)
    return { label, value: '–', note: t('counted when the run is planned') };
  return counts.uncounted === 0
    ? { label, value: grouped(counts.tokens), note: t('as sampled') }
    : { label, value: t('over {0}', grouped(counts.tokens)), note: t('counted when the run is planned') };
}

function problemOf({ trajectories, successes, pairs, feedback }: DataCounts, run: RunFields): string {
  const from = learnsFrom(run);
  if (feedbackCount(feedback) > 0 && feedbackOfRun(run)?.isEnough === true) return '';
  if (trajectories === 0)
    return rowsOfRun(run) === 'replies'
      ? t('No replies are left to learn from: play some tasks yourself, or include more dialogues.')
      : t('No dialogues are left to train on: include more of them.');
  if (from === 'successes' && successes === 0 && minimumReward(run) >= 1)
    return t('No dialogue is a success, so there is none to imitate: choose another method, or play more.');
  if (from === 'pairs' && pairs === 0)
    return t(
      'No task has two dialogues with different rewards, so there are no pairs: play each task several times.',
    );
  return '';
}

function minimumReward({ policy }: RunFields): number {
  const set = isObject(policy) ? policy.minimum_reward : undefined;
  return typeof set === 'number' ? set : 1;
}

const nothing = { problem: '', summary: '', fits: true, rows: [], advice: [], checks: [] };

export const estimateIn = (
  state: EstimateView['state'],
  sentence: string,
  checks: readonly CheckView[] = [],
): EstimateView => ({ type: 'estimate', state, sentence, ...nothing, checks });

/** @param isOnCluster true for a plan of a cluster's nodes; their speed is unknown */
export function planView(plan: Plan, checks: readonly Check[], isOnCluster = false): EstimateView {
  const { machine, needed, fits, disk, total_seconds: seconds } = plan;
  const ofOne =
    machine.usable === null
      ? bytesWords(needed, t)
      : t('{0} of {1}', bytesWords(needed, t), bytesWords(machine.usable, t));
  const memory =
    machine.processes === 1 ? ofOne : t('{0} for each of {1} processes', ofOne, machine.processes);
  const time =
    seconds === null ? t('unknown until the run has measured it') : t('about {0}', roughly(seconds, t));
  const whole = seconds !== null && machine.measured ? t('{0}, measured', time) : time;
  const stages = Object.entries(plan.seconds).flatMap(([stage, part]) =>
    part === null ? [] : [`${stageWord(stage)} ${roughly(part, t)}`],
  );
  const device = machine.name === 'cpu' ? t('CPU') : machine.name;
  return {
    type: 'estimate',
    state: 'planned',
    sentence: isOnCluster
      ? fits
        ? t('It fits the nodes of the cluster.')
        : t('It does not fit the nodes of the cluster.')
      : fits
        ? t('It fits this machine.')
        : t('It does not fit this machine.'),
    problem: '',
    summary: [...(seconds === null ? [] : [time]), fits ? memory : t('{0}: too much', memory), device].join(
      ' · ',
    ),
    fits,
    rows: [
      { label: t('Memory'), value: memory },
      { label: t('Time'), value: stages.length === 0 ? whole : `${whole} (${stages.join(', ')})` },
      { label: t('Disk'), value: bytesWords(disk, t) },
      { label: t('Device'), value: `${device}, ${machine.dtype}` },
      {
        label: t('Max. example length'),
        value: t('{0} tokens; {1} would fit', grouped(plan.largest), grouped(plan.room)),
      },
    ],
    advice: plan.advice,
    checks: checksView(checks),
  };
}

/** Failed checks first; passed ones are left out. */
export function checksView(checks: readonly Check[]): CheckView[] {
  const shown = checks
    .filter(({ status }) => status !== 'ok')
    .map(({ name, status, command, saw, remedy = '' }) => ({
      ...{ name, command, saw, remedy },
      isFailed: status === 'failed',
    }));
  return shown.sort((a, b) => Number(b.isFailed) - Number(a.isFailed));
}

/** Remarks on the log come at once, those on the remaining data with the plan. */
function remarksOf({ counts, plan, configuration: run }: Told): string[] {
  const ofLog = counts === undefined ? '' : ofRole(counts, run);
  // More dialogues mend the other shortages, too.
  if (ofLog !== '') return [ofLog];
  const shortages = plan?.data.shortages ?? [];
  return shortages.map((shortage) => shortageRemark(shortage, run)).filter((sentence) => sentence !== '');
}

/**
 * The trainer's constant of the same name (shortage.py), for methods that learn from rewards: with 120 dialogues of the
 * starter world none of them gave a better agent.
 */
const MIN_DIALOGUES = 600;

/** No amount was measured for other roles than the agent; a simulator can at least be compared with people. */
function ofRole(counts: DataCounts, run: RunFields): string {
  if (rowsOfRun(run) === 'trajectories') return dialoguesRemark(counts, run);
  const { people, trajectories } = counts;
  if (people === undefined || people === 0 || trajectories >= MIN_TASKS) return '';
  return t(
    'Too few to tell whether the simulator becomes like them: “People and Simulator” has intervals from {0} dialogues on. Play {1} more.',
    MIN_TASKS,
    MIN_TASKS - trajectories,
  );
}

interface Gains {
  readonly runs: number;
  /** The most dialogues first. */
  readonly from: readonly { readonly dialogues: number; readonly gain: string }[];
}

/**
 * Points of success on unseen tasks of the starter world that were gained from so many dialogues, one of each task, at
 * temperature 0.5, with 95 % intervals over runs and tasks (docs/benchmarks/few-dialogues.md).
 */
const DISTILLED: Gains = {
  runs: 5,
  from: [
    { dialogues: 200, gain: '+21.8 [+17.0, +26.6]' },
    { dialogues: 100, gain: '+17.6 [+11.8, +23.3]' },
    { dialogues: 50, gain: '+9.1 [+3.9, +14.2]' },
    { dialogues: 20, gain: '+6.4 [+2.5, +10.3]' },
  ],
};
const FORCED: Gains = {
  runs: 3,
  from: [
    { dialogues: 100, gain: '+19.0 [+12.2, +25.7]' },
    { dialogues: 20, gain: '+10.5 [+2.7, +18.3]' },
  ],
};

const gainsOf = ({ method, critic }: RunFields): Gains | undefined => {
  if (method === 'distill') return DISTILLED;
  return method === 'sweet-rl' && isObject(critic) && critic.score === 'answer-now' ? FORCED : undefined;
};

function dialoguesRemark({ trajectories }: DataCounts, run: RunFields): string {
  if (trajectories === 0 || trajectories >= MIN_DIALOGUES) return '';
  const gains = gainsOf(run);
  const measured = (gains ?? DISTILLED).from.find(({ dialogues }) => dialogues <= trajectories);
  if (measured === undefined) {
    const { dialogues } = DISTILLED.from.at(-1)!;
    return t(
      'Too few to expect a better agent: Distillation needs {0}, the fewest that were measured to give one. Collect {1} more, or use “Teach Agent…”.',
      dialogues,
      dialogues - trajectories,
    );
  }
  const { dialogues, gain } = measured;
  return gains !== undefined
    ? t(
        'What to expect: from {0} dialogues, one of each task, success on unseen tasks of the starter world changed by {1} points in {2} runs.',
        dialogues,
        gain,
        gains.runs,
      )
    : t(
        'With fewer than {0} dialogues only Distillation and Forced answers were measured to give a better agent: Distillation {1} points from {2}, one of each task. Choose it, or collect {3} more.',
        grouped(MIN_DIALOGUES),
        gain,
        dialogues,
        grouped(MIN_DIALOGUES - trajectories),
      );
}

function shortageRemark({ kind, have, enough }: Shortage, run: RunFields): string {
  switch (kind) {
    case 'pairs': {
      const pairs = have === 1 ? t('1 pair') : t('{0} pairs', grouped(have));
      return t(
        'There would be {0} to learn from: a better agent was measured with {1}. Collect several dialogues of more tasks, or choose other pairs under “More”.',
        pairs,
        grouped(enough),
      );
    }
    case 'held_out_pairs': {
      const pairs = have === 1 ? t('1 pair is held out') : t('{0} pairs are held out', grouped(have));
      return t(
        '{0}: from {1} on, accuracy tells learning from chance. Collect dialogues of more tasks, or raise the held-out fraction.',
        pairs,
        grouped(enough),
      );
    }
    case 'successes':
      return t(
        '{0} to imitate: a better agent was measured with {1}. Collect more, of any agent.',
        dialogues(have, t),
        grouped(enough),
      );
    case 'token_ids':
    case 'tokenizer': {
      const values = [grouped(enough - have), grouped(enough), tokenisedWords(run)];
      return kind === 'token_ids'
        ? t('{0} of {1} turns come without token ids: {2}', ...values)
        : t('{0} of {1} turns have the token ids of another tokenizer than the model’s: {2}', ...values);
    }
    case 'dialogues':
      // The remark on the log says this already.
      return '';
  }
}

const tokenisedWords = (run: RunFields): string =>
  learnsFrom(run) === 'successes'
    ? t('their text is tokenized, which is how a warm start was measured.')
    : t(
        'their text is tokenized, perhaps into others than were sampled. Gains were measured with the ids of every turn; collect dialogues with this model on this machine.',
      );
