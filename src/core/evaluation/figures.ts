import type { AgentFigures, TaskFigures } from './figureSchemas';
import type { Grade, GradingMode } from '../grading/grade';
import type { Trajectory } from '../trajectory/trajectory';
import { average, meanRate } from './interval';
import { askedIn } from '../dialogue/factMatcher';
import { parseAgentMessage } from '../dialogue/protocol';
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
  const meanKnown = (values: readonly (number | undefined)[]): number | null => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? null : average(known);
  };
  const questions = dialogues.map(({ trajectory }) => questionCounts(trajectory));
  const meanCount = (count: keyof QuestionCounts): number | null =>
    meanKnown(questions.map((counts) => counts?.[count]));
  const finished = trajectories.filter(isFinished);
  const pages = pageFigures(finished, mode);
  const halving = questionFigures(dialogues.map(({ trajectory }) => trajectory));
  return {
    agent,
    mode,
    tasks: tasks.length,
    dialogues: dialogues.length,
    success: meanRate(tasks.map(({ success }) => success)),
    testsPassed: meanRate(tasks.map(({ testsPassed }) => testsPassed)),
    leakRate: mean(({ trajectory }) => Number(trajectory.turns.some(({ leak }) => leak?.leaked === true))),
    meanTurns: mean(({ trajectory }) => trajectory.turns.length),
    // No more is to be asked there than what tells the figures apart.
    missedDecisions: halving === undefined ? meanCount('missed') : null,
    uselessQuestions: meanCount('useless'),
    meanTokens: meanKnown(dialogues.map(({ trajectory }) => tokensOf(trajectory))),
    meanSeconds: meanKnown(dialogues.map(({ trajectory }) => secondsOf(trajectory))),
    turnLimitRate: mean(({ trajectory }) => Number(hasRunOut(trajectory))),
    timeOutRate: mean(({ timedOut }) => Number(timedOut)),
    notGradable: finished.filter((trajectory) => gradeOf(trajectory, mode)?.reward == null).length,
    unfinished: trajectories.length - finished.length,
    ...(pages.length > 0 && { pages }),
    ...(halving !== undefined && { questions: halving }),
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
  readonly decisions: number;
  readonly asked: number;
  readonly missed: number;
  /** Questions about no decision, or about one that was asked before. A message that asks nothing counts as one. */
  readonly useless: number;
}

/**
 * Uses the matcher of the rule-based simulator, for any collaborator. The answer itself asks nothing.
 * @returns undefined for a task without facts
 */
export function questionCounts({
  task,
  turns,
}: Pick<Trajectory, 'task' | 'turns'>): QuestionCounts | undefined {
  const facts = factsOf(task);
  if (facts.length === 0 || !isProgram(task)) return undefined;
  const known = new Set<Fact>();
  let useless = 0;
  let lastReply: string | undefined;
  for (const { agent, reply } of turns) {
    if (reply === undefined) continue;
    const asked = askedIn(task, parseAgentMessage(agent.text).visible, lastReply);
    // A second half that names no subject of its own belongs to the first half.
    const counted = asked.filter(({ question, fact }) => fact !== undefined || !question.continues);
    if (counted.length === 0) useless += 1;
    for (const { fact } of counted) {
      if (fact === undefined || known.has(fact)) useless += 1;
      else known.add(fact);
    }
    lastReply = reply.text;
  }
  return { decisions: facts.length, asked: known.size, missed: facts.length - known.size, useless };
}
