import {
  collect,
  collectionName,
  type CollectionPlan,
  type CollectionProgress,
  type CollectionResult,
  rendererOf,
} from '../dialogue/collect';
import type { Model } from '../model/model';
import { EVALUATION } from '../trajectory/index/filter';
import type { Trajectory } from '../trajectory/trajectory';
import { agentFigures, isFinished, taskFigures } from './figures';
import type { AgentFigures } from './figureSchemas';
import { habitChanges, type HabitChange } from './habits';
import { draftProgress } from './pages/draftProgress';
import { judgedAsking } from './judgedAsking';
import { pairedPages, type PairedPages } from './pages/pairedPages';
import { pairedTasks, type PairedFigures } from './paired';

export interface EvaluationPlan extends Omit<CollectionPlan, 'agent' | 'collection' | 'onProgress'> {
  /** Each further agent is compared with the first, on the same tasks and seeds. */
  readonly agents: readonly Model[];
  /** Says what the agents' questions are about in tasks with a specification instead of facts. */
  readonly judge?: Model;
  readonly onProgress?: (agent: string, progress: CollectionProgress) => void;
  readonly onJudged?: (agent: string, done: number, total: number) => void;
}

export interface PairedComparison extends PairedFigures {
  readonly baseline: string;
  readonly agent: string;
  readonly habits: readonly HabitChange[];
  /** On web pages, one entry for each scale that both were scored by; absent without any. */
  readonly pages?: readonly PairedPages[];
}

export interface Evaluated {
  readonly figures: AgentFigures;
  /** Failures, and the number of dialogues that an earlier call had played. */
  readonly collection: CollectionResult;
  readonly trajectories: readonly Trajectory[];
}

export interface Evaluation {
  readonly agents: readonly Evaluated[];
  readonly comparisons: readonly PairedComparison[];
}

/**
 * All agents play under the same seeds. Continues an evaluation of the same settings where it stopped.
 * @throws as `collect`, and what drawing pages throws
 */
export async function evaluate(plan: EvaluationPlan): Promise<Evaluation> {
  const { onProgress, onJudged, ...rest } = plan;
  const agents: Evaluated[] = [];
  const renderer = await rendererOf(plan);
  for (const agent of plan.agents) {
    const name = collectionName(EVALUATION, { ...plan, agent, renderer });
    const collection = await collect({
      ...rest,
      agent,
      collection: name,
      onProgress: (progress) => onProgress?.(agent.name, progress),
    });
    const trajectories = await readCollection(plan, name);
    const figures = agentFigures(agent.name, trajectories, plan.mode);
    const progress = plan.pages && (await draftProgress(trajectories.filter(isFinished), plan.pages));
    agents.push({
      figures: {
        ...figures,
        ...(progress && { draftProgress: progress }),
        ...(plan.judge && {
          judgedAsking: await judgedAsking(trajectories, plan.judge, {
            ...plan,
            onJudged: (done, total) => onJudged?.(agent.name, done, total),
          }),
        }),
      },
      ...{ collection, trajectories },
    });
  }
  const [baseline, ...others] = agents;
  return { agents, comparisons: others.map((other) => compare(baseline!, other, plan)) };
}

async function readCollection(plan: EvaluationPlan, collection: string): Promise<Trajectory[]> {
  const wanted = new Set(
    plan.tasks.flatMap(({ task }) => Array.from({ length: plan.rollouts }, (_, k) => `${task.id}#${k}`)),
  );
  const episodes = [...plan.log.collected(collection)]
    .filter(([job]) => wanted.has(job))
    .map(([, { episode }]) => episode);
  return Array.fromAsync(plan.log.trajectories(episodes));
}

function compare(before: Evaluated, after: Evaluated, { mode, seed }: EvaluationPlan): PairedComparison {
  const [first, second] = [before, after].map(({ trajectories }) => trajectories.filter(isFinished));
  const pages = pairedPages(first!, second!, mode, seed);
  const tasks = [taskFigures(before.trajectories, mode), taskFigures(after.trajectories, mode)] as const;
  const paired = pairedTasks(...tasks, seed);
  return {
    baseline: before.figures.agent,
    agent: after.figures.agent,
    ...(pages.length > 0 && { pages }),
    ...paired,
    habits: habitChanges(...tasks, { success: paired.success, seed }),
  };
}
