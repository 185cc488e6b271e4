import * as z from 'zod';
import { refuseIncomplete, type CollectionProgress } from '../../dialogue/collect';
import { evaluate, type Evaluated, type Evaluation, type EvaluationPlan } from '../evaluate';
import { taskFigures } from '../figures';
import { figuresSchema, pairedSchema } from '../figureSchemas';
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

export const comparisonsSchema = z.object({ sampled: comparison, greedy: comparison });
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
  /** The run that made the trained agent; its folder holds both results, like those of other evaluations. */
  readonly run: string;
  readonly onProgress?: (progress: { done: number; total: number; already: number }) => void;
}

/** @throws {Fault} `dialogue/incomplete` when dialogues failed; as `collect` */
export async function compareAgents(plan: ComparisonPlan): Promise<TrainedComparisons> {
  const { before, after, rollouts, temperature, maxTokens, title, run, onProgress, ...rest } = plan;
  const perAgent = plan.tasks.length * (rollouts + 1);
  const played = new Map<string, CollectionProgress>();
  const play = async (kind: 'sampled' | 'greedy') => {
    const isGreedy = kind === 'greedy';
    const setting = {
      ...rest,
      rollouts: isGreedy ? 1 : rollouts,
      sampling: { temperature: isGreedy ? 0 : temperature, maxTokens },
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
    return { compared, keep: () => keep(run, settingOf(setting, title), plan.tasks, kept) };
  };
  const greedy = await play('greedy');
  const sampled = await play('sampled');
  // The latest evaluation is what is shown of a run, and sampled play is the result of the loop: nothing shows the other
  // figure for as long as this one is played.
  await greedy.keep();
  await sampled.keep();
  return { sampled: sampled.compared, greedy: greedy.compared };
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
