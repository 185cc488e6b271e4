import type { AgentFigures, TaskFigures } from './figureSchemas';
import type { Grade, GradingMode } from '../grading/grade';
import type { Trajectory } from '../trajectory/trajectory';
import type { Habit } from './habits';
import { askF1, askFigures, sumOf, type AskCounts } from './askF1';
import { average, meanRate } from './interval';
import { askedIn } from '../dialogue/factMatcher';
import { specificationOf } from '../dialogue/specification/specification';
import { isSpecified } from '../dialogue/specification/specificationSpec';
import { parseAgentMessage } from '../dialogue/protocol';
import { worldOf } from '../task/starter/splits';
import { type Fact, factsOf, isProgram } from '../task/task';
import { pageFigures } from './pages/pageFigures';
import { questionFigures } from './questionFigures';

interface Graded {
  readonly trajectory: Trajectory;
  readonly reward: number;
  readonly success: boolean;
  readonly timedOut: boolean;
}

export function taskFigures(trajectories: readonly Trajectory[], mode: GradingMode): TaskFigures[] {
  const byTask = Map.groupBy(graded(trajectories, mode), ({ trajectory }) => trajectory.task.id);
  return [...byTask].map(([task, rollouts]) => ({
    task,
    success: average(rollouts.map(({ success }) => Number(success))),
    testsPassed: average(rollouts.map(({ reward }) => reward)),
    rollouts: rollouts.length,
    ...habitsOf(rollouts),
  }));
}

export function agentFigures(
  agent: string,
  trajectories: readonly Trajectory[],
  mode: GradingMode,
): AgentFigures {
  const dialogues = graded(trajectories, mode);
  const tasks = taskFigures(trajectories, mode);
  const mean = (value: (one: Graded) => number): number | null =>
    dialogues.length === 0 ? null : average(dialogues.map(value));
  const { leakRate, turnLimitRate, askF1: _, ...habits } = habitsOf(dialogues);
  const asking = askFigures(
    dialogues.flatMap(({ trajectory }) => {
      const counts = askCounts(trajectory);
      return counts === undefined ? [] : [{ task: trajectory.task.id, ...counts }];
    }),
  );
  const meanCount = (count: keyof QuestionCounts): number | null =>
    meanKnown(dialogues.map(({ trajectory }) => countsOf(trajectory)?.[count]));
  const finished = trajectories.filter(isFinished);
  const pages = pageFigures(finished, mode);
  const specified = dialogues.flatMap(({ trajectory: { collaborator, task } }) =>
    isSpecified(collaborator) ? [specificationOf(task)?.state] : [],
  );
  const halving = questionFigures(dialogues.map(({ trajectory }) => trajectory));
  return {
    agent,
    mode,
    tasks: tasks.length,
    dialogues: dialogues.length,
    success: meanRate(tasks.map(({ success }) => success)),
    testsPassed: meanRate(tasks.map(({ testsPassed }) => testsPassed)),
    leakRate,
    meanTurns: mean(({ trajectory }) => trajectory.turns.length),
    // No more is to be asked there than what tells the figures apart.
    missedDecisions: halving === undefined ? meanCount('missed') : null,
    uselessQuestions: meanCount('useless'),
    askF1: asking?.f1 ?? null,
    askPrecision: asking?.precision ?? null,
    askRecall: asking?.recall ?? null,
    ...habits,
    meanTokens: meanKnown(dialogues.map(({ trajectory }) => tokensOf(trajectory))),
    meanSeconds: meanKnown(dialogues.map(({ trajectory }) => secondsOf(trajectory))),
    turnLimitRate,
    timeOutRate: mean(({ timedOut }) => Number(timedOut)),
    notGradable: finished.filter((trajectory) => gradeOf(trajectory, mode)?.reward == null).length,
    unfinished: trajectories.length - finished.length,
    ...(specified.length > 0 && {
      doubtfulSpecifications: specified.filter((state) => state === 'failed' || state === 'unchecked').length,
    }),
    ...(pages.length > 0 && { pages }),
    ...(halving !== undefined && { questions: halving }),
  };
}

function meanKnown(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : average(known);
}

function habitsOf(dialogues: readonly Graded[]): Record<Habit, number | null> {
  const mean = (value: (one: Trajectory, counts?: QuestionCounts) => number | boolean | undefined) =>
    meanKnown(
      dialogues.map(({ trajectory }) => {
        const one = value(trajectory, countsOf(trajectory));
        return one === undefined ? undefined : Number(one);
      }),
    );
  const asked = dialogues.flatMap(({ trajectory }) => askCounts(trajectory) ?? []);
  return {
    needlessQuestions: mean((_, counts) => counts?.needless),
    repeatedQuestions: mean((_, counts) => counts?.repeated),
    meanQuestions: mean((_, counts) => counts?.questions),
    unaskedRate: mean((one, counts) => counts && counts.questions === 0 && !hasRunOut(one)),
    askF1: asked.length === 0 ? null : askF1(sumOf(asked)),
    leakRate: mean(({ turns }) => turns.some(({ leak }) => leak?.leaked === true)),
    turnLimitRate: mean(hasRunOut),
  };
}

const hasRunOut = ({ answer }: Trajectory): boolean =>
  answer?.reason === 'turn-limit' || answer?.reason === 'context-limit';

export const isFinished = ({ state, damaged }: Trajectory): boolean =>
  state === 'answered' && damaged === undefined;

const gradeOf = ({ grades }: Trajectory, mode: GradingMode): Grade | undefined =>
  grades.findLast((event) => event.grade.mode === mode)?.grade;

/** Finished and with a success or failure under this mode; the latest grade counts. Kinds of tasks are not mixed. */
function graded(trajectories: readonly Trajectory[], mode: GradingMode): Graded[] {
  const programs = trajectories.filter(({ task }) => isProgram(task));
  const ofOneKind = programs.length > 0 ? programs : trajectories;
  return ofOneKind.filter(isFinished).flatMap((trajectory) => {
    const grade = gradeOf(trajectory, mode);
    if (grade?.reward == null || grade.success === null) return [];
    const timedOut = grade.tests.some(({ status }) => status === 'timed-out');
    return [{ trajectory, reward: grade.reward, success: grade.success, timedOut }];
  });
}

/** Undefined when the tokens of one turn are unknown. */
function tokensOf({ turns }: Trajectory): number | undefined {
  return sumKnown(turns.map(({ agent }) => agent.usage?.completionTokens ?? agent.tokens?.ids?.length));
}

/** Undefined when one turn was not timed, as in imported rows. A reply without a time counts as 0. */
function secondsOf({ turns }: Trajectory): number | undefined {
  const milliseconds = turns.map(
    ({ agent, reply }) => agent.timing && agent.timing.totalMs + (reply?.milliseconds ?? 0),
  );
  const sum = sumKnown(milliseconds);
  return sum === undefined ? undefined : sum / 1000;
}

function sumKnown(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>(
    (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value),
    0,
  );
}

interface QuestionCounts {
  readonly questions: number;
  /** These are undefined for a task without facts. */
  readonly decisions?: number;
  readonly asked?: number;
  readonly missed?: number;
  /** Questions about no decision. A message that asks nothing counts as one. */
  readonly needless?: number;
  /** Questions about a decision that was asked about before. */
  readonly repeated?: number;
  /** Both. */
  readonly useless?: number;
}

/** Kept because the same dialogue counts for its task and for its agent. */
const counted = new WeakMap<Trajectory, QuestionCounts | undefined>();

function countsOf(trajectory: Trajectory): QuestionCounts | undefined {
  if (!counted.has(trajectory)) counted.set(trajectory, questionCounts(trajectory));
  return counted.get(trajectory);
}

/** Undefined without hidden decisions, and for twenty questions, where nobody has to ask for all of them. */
export function askCounts(trajectory: Trajectory): AskCounts | undefined {
  const { asked, missed, useless } = countsOf(trajectory) ?? {};
  if (asked === undefined || missed === undefined || useless === undefined) return undefined;
  return worldOf(trajectory.task) === 'twenty-questions' ? undefined : { asked, missed, useless };
}

/**
 * Uses the matcher of the rule-based simulator, for any collaborator. The answer itself asks nothing.
 * @returns undefined for a web page
 */
export function questionCounts({
  task,
  turns,
}: Pick<Trajectory, 'task' | 'turns'>): QuestionCounts | undefined {
  if (!isProgram(task)) return undefined;
  const facts = factsOf(task);
  const known = new Set<Fact>();
  let [questions, needless, repeated] = [0, 0, 0];
  let lastReply: string | undefined;
  for (const { agent, reply } of turns) {
    if (reply === undefined) continue;
    const asked = askedIn(task, parseAgentMessage(agent.text).visible, lastReply);
    // A second half that names no subject of its own belongs to the first half.
    const own = asked.filter(({ question, fact }) => fact !== undefined || !question.continues);
    questions += own.length;
    if (own.length === 0) needless += 1;
    for (const { fact } of own) {
      if (fact === undefined) needless += 1;
      else if (known.has(fact)) repeated += 1;
      else known.add(fact);
    }
    lastReply = reply.text;
  }
  if (facts.length === 0) return { questions };
  return {
    ...{ questions, decisions: facts.length, asked: known.size, missed: facts.length - known.size },
    ...{ needless, repeated, useless: needless + repeated },
  };
}
