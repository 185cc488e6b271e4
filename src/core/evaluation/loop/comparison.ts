import * as z from 'zod';
import { refuseIncomplete, type CollectionProgress } from '../../dialogue/collect';
import { evaluate, type Evaluated, type Evaluation, type EvaluationPlan } from '../evaluate';
import { taskFigures } from '../figures';
import { figuresSchema, pairedSchema } from '../figureSchemas';
import type { EarlierLesson } from './earlierLessons';
import { keep, playedOf, settingOf } from './evaluationCache';
import type { Model } from '../../model/model';
import { habitInWords } from '../words';

const comparison = z.object({
  before: figuresSchema,
  after: figuresSchema,
  success: pairedSchema,
  testsPassed: pairedSchema,
  /** Tasks that were solved more often afterwards, and less often. */
  gained: z.number(),
  lost: z.number(),
  /** Habits that got worse, in words; absent in results of earlier versions. */
  worse: z.array(z.string()).optional(),
  example: z.object({ task: z.string(), before: z.string(), after: z.string() }).optional(),
});

/** On tasks of an earlier lesson, played greedily. */
const earlierComparison = comparison.extend({ title: z.string() });

export const comparisonsSchema = z.object({
  sampled: comparison,
  greedy: comparison,
  /** Of earlier lessons, the latest first; absent where there was none. */
  earlier: z.array(earlierComparison).optional(),
});
export type TrainedComparison = z.infer<typeof comparison>;
export type TrainedComparisons = z.infer<typeof comparisonsSchema>;

interface ComparisonPlan extends Omit<EvaluationPlan, 'agents' | 'rollouts' | 'sampling' | 'onProgress'> {
  readonly before: Model;
  readonly after: Model;
  /** Per task in sampled play; greedy play has one. */
  readonly rollouts: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly title: string;
  readonly earlier: readonly EarlierLesson[];
  /** The run that made the trained agent; its folder holds both results, like those of other evaluations. */
  readonly run: string;
  readonly onProgress?: (progress: { done: number; total: number; already: number }) => void;
}

/** @throws {Fault} `dialogue/incomplete` when dialogues failed; as `collect` */
export async function compareAgents(plan: ComparisonPlan): Promise<TrainedComparisons> {
  const { before, after, rollouts, temperature, maxTokens, earlier, run, onProgress, ...rest } = plan;
  const again = earlier.reduce((sum, { tasks }) => sum + tasks.length, 0);
  const perAgent = plan.tasks.length * (rollouts + 1) + again;
  const played = new Map<string, CollectionProgress>();
  const play = async (kind: string, lesson: EarlierLesson = plan) => {
    const isSampled = kind === 'sampled';
    const { tasks, seed } = lesson;
    const setting = {
      ...{ ...rest, tasks, seed },
      rollouts: isSampled ? rollouts : 1,
      sampling: { temperature: isSampled ? temperature : 0, maxTokens },
    };
    const evaluation = await evaluate({
      ...setting,
      agents: [before, after],
      onProgress: (agent, progress) => {
        played.set(`${kind} ${agent}`, progress);
        const sum = (of: 'done' | 'already'): number =>
          [...played.values()].reduce((all, one) => all + one[of], 0);
        onProgress?.({ done: sum('done'), already: sum('already'), total: 2 * perAgent });
      },
    });
    const compared = comparisonOf(evaluation, plan);
    const [start, model] = evaluation.agents.map((agent) => playedOf(agent, plan.mode));
    const kept = { start: start!, model: model! };
    return { compared, keep: () => keep(run, settingOf(setting, lesson.title), tasks, kept) };
  };
  const playedAgain: z.infer<typeof earlierComparison>[] = [];
  // The oldest first: the next lesson takes them in the order in which they were kept.
  for (const [number, lesson] of earlier.toReversed().entries()) {
    const { compared, keep } = await play(`earlier ${number}`, lesson);
    await keep();
    playedAgain.unshift({ ...compared, title: lesson.title });
  }
  const greedy = await play('greedy');
  const sampled = await play('sampled');
  // The latest evaluation is what is shown of a run, and sampled play is the result of the loop: nothing shows the other
  // figure for as long as this one is played.
  await greedy.keep();
  await sampled.keep();
  const measured = { sampled: sampled.compared, greedy: greedy.compared };
  return playedAgain.length === 0 ? measured : { ...measured, earlier: playedAgain };
}

function comparisonOf({ agents, comparisons }: Evaluation, { mode }: ComparisonPlan): TrainedComparison {
  const [before, after] = agents as readonly [Evaluated, Evaluated];
  for (const { collection } of agents) refuseIncomplete(collection);
  const solved = ({ trajectories }: Evaluated): Map<string, number> =>
    new Map(taskFigures(trajectories, mode).map(({ task, success }) => [task, success]));
  const first = solved(before);
  const moved = [...solved(after)].map(
    ([task, success]) => [task, success - (first.get(task) ?? 0)] as const,
  );
  moved.sort(([a], [b]) => (a < b ? -1 : 1)); // sorted by id, because the order of play is arbitrary
  const gained = moved.filter(([, by]) => by > 0);
  const lost = moved.filter(([, by]) => by < 0);
  const task = (gained[0] ?? lost[0] ?? moved[0])?.[0]; // the first task that shows a change, if there is one
  return {
    before: before.figures,
    after: after.figures,
    success: comparisons[0]!.success,
    testsPassed: comparisons[0]!.testsPassed,
    gained: gained.length,
    lost: lost.length,
    worse: comparisons[0]!.habits.filter(({ isWorse }) => isWorse).map(habitInWords),
    ...(task !== undefined && { example: { task, ...dialoguesOf(task, before, after) } }),
  };
}

function dialoguesOf(task: string, before: Evaluated, after: Evaluated): { before: string; after: string } {
  const of = ({ trajectories }: Evaluated): string =>
    trajectories.find((trajectory) => trajectory.task.id === task)!.id;
  return { before: of(before), after: of(after) };
}
