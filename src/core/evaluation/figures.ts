import type { GradingMode } from '../grading/grade';
import type { Trajectory } from '../trajectory/trajectory';
import { wilson, type Interval } from './interval';

/** A mean with its 95 % interval. */
export interface Estimate {
  readonly mean: number;
  readonly interval: Interval;
}

/** How one agent did on a set of tasks. */
export interface AgentFigures {
  readonly agent: string;
  readonly mode: GradingMode;
  /** Tasks with at least one graded dialogue; the `n` of the intervals. */
  readonly tasks: number;
  readonly dialogues: number;
  /** Fraction of dialogues whose answer passes all tests, averaged per task first. */
  readonly success: Estimate;
  /** Fraction of tests passed, averaged per task first. */
  readonly testsPassed: Estimate;
  /** Fraction of dialogues in which a reply gave the reference away. */
  readonly leakRate: number;
  /** Agent turns per dialogue, the answer included. */
  readonly meanTurns: number;
  /** Fraction of dialogues whose last turn counted as the answer without saying so. */
  readonly turnLimitRate: number;
  /** Fraction of answers with a test that timed out. */
  readonly timeOutRate: number;
  /** Answers that could not be graded here, e.g. because the reference fails; left out of the rates. */
  readonly notGradable: number;
  /** Dialogues without an answer, because a model failed; left out of the rates. */
  readonly unfinished: number;
}

/** Success and fraction of tests passed of one task, averaged over its rollouts. */
export interface TaskFigures {
  readonly task: string;
  readonly success: number;
  readonly testsPassed: number;
  readonly rollouts: number;
}

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
    success: mean(rollouts.map(({ success }) => Number(success))),
    testsPassed: mean(rollouts.map(({ reward }) => reward)),
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
  const share = (holds: (one: Graded) => boolean): number => mean(dialogues.map((one) => Number(holds(one))));
  const answered = trajectories.filter(({ answer }) => answer !== undefined).length;
  return {
    agent,
    mode,
    tasks: tasks.length,
    dialogues: dialogues.length,
    success: estimate(tasks.map(({ success }) => success)),
    testsPassed: estimate(tasks.map(({ testsPassed }) => testsPassed)),
    leakRate: share(({ trajectory }) => trajectory.turns.some(({ leak }) => leak?.leaked === true)),
    meanTurns: mean(dialogues.map(({ trajectory }) => trajectory.turns.length)),
    turnLimitRate: share(({ trajectory }) => trajectory.answer?.reason === 'turn-limit'),
    timeOutRate: share(({ timedOut }) => timedOut),
    notGradable: answered - dialogues.length,
    unfinished: trajectories.length - answered,
  };
}

/** The trajectories that have a reward under this mode; the latest grade counts. */
function graded(trajectories: readonly Trajectory[], mode: GradingMode): Graded[] {
  return trajectories.flatMap((trajectory) => {
    const grade = trajectory.grades.findLast((event) => event.grade.mode === mode)?.grade;
    if (grade?.reward == null || grade.success === null) return [];
    const timedOut = grade.tests.some(({ status }) => status === 'timed-out');
    return [{ trajectory, reward: grade.reward, success: grade.success, timedOut }];
  });
}

function estimate(values: readonly number[]): Estimate {
  return { mean: mean(values), interval: wilson(mean(values), values.length) };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
