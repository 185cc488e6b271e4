import { collect, collectionName, type CollectionPlan, type CollectionProgress } from '../dialogue/collect';
import type { Model } from '../model/model';
import { EVALUATION } from '../trajectory/export/selection';
import type { Trajectory } from '../trajectory/trajectory';
import { pairedBootstrap, type PairedDifference } from './bootstrap';
import { agentFigures, taskFigures, type AgentFigures } from './figures';

export interface EvaluationPlan extends Omit<CollectionPlan, 'agent' | 'collection' | 'onProgress'> {
  /** Two or more are compared with the first, on the same tasks and seeds. */
  readonly agents: readonly Model[];
  readonly onProgress?: (agent: string, progress: CollectionProgress) => void;
}

export interface Comparison {
  readonly baseline: string;
  readonly agent: string;
  readonly success: PairedDifference;
  readonly testsPassed: PairedDifference;
}

export interface Evaluation {
  readonly agents: readonly AgentFigures[];
  readonly comparisons: readonly Comparison[];
  readonly trajectories: ReadonlyMap<string, readonly Trajectory[]>;
}

/**
 * Plays the tasks with each agent under the same seeds, grades, and compares. Continues an evaluation of the same
 * settings where it stopped.
 */
export async function evaluate(plan: EvaluationPlan): Promise<Evaluation> {
  const trajectories = new Map<string, Trajectory[]>();
  for (const agent of plan.agents) {
    const { onProgress, ...rest } = plan;
    const collection = collectionName(EVALUATION, settingsOf(plan, agent));
    await collect({
      ...rest,
      agent,
      collection,
      onProgress: (progress) => onProgress?.(agent.name, progress),
    });
    trajectories.set(agent.name, await readCollection(plan, collection));
  }
  const figures = [...trajectories].map(([agent, played]) => agentFigures(agent, played, plan.mode));
  const [baseline, ...others] = plan.agents.map(({ name }) => name);
  const comparisons = others.map((agent) =>
    compare(baseline!, trajectories.get(baseline!)!, agent, trajectories.get(agent)!, plan),
  );
  return { agents: figures, comparisons, trajectories };
}

/** What two collections must share to be one. */
export function settingsOf(
  plan: Pick<CollectionPlan, 'simulator' | 'seed' | 'protocol' | 'prompts' | 'sampling'>,
  agent: Model,
): Record<string, unknown> {
  return {
    agent: agent.name,
    simulator: plan.simulator.name,
    seed: plan.seed,
    protocol: plan.protocol,
    prompts: plan.prompts.versions,
    sampling: plan.sampling,
  };
}

async function readCollection(plan: EvaluationPlan, collection: string): Promise<Trajectory[]> {
  const wanted = new Set(
    plan.tasks.flatMap(({ task }) => Array.from({ length: plan.rollouts }, (_, k) => `${task.id}#${k}`)),
  );
  const trajectories: Trajectory[] = [];
  for (const [job, { episode }] of plan.log.collected(collection)) {
    const trajectory = wanted.has(job) ? await plan.log.trajectory(episode) : undefined;
    if (trajectory !== undefined) trajectories.push(trajectory);
  }
  return trajectories;
}

/** Only tasks that both agents were graded on count. */
function compare(
  baseline: string,
  before: readonly Trajectory[],
  agent: string,
  after: readonly Trajectory[],
  plan: EvaluationPlan,
): Comparison {
  const first = new Map(taskFigures(before, plan.mode).map((figures) => [figures.task, figures]));
  const both = taskFigures(after, plan.mode).filter(({ task }) => first.has(task));
  const paired = (figure: 'success' | 'testsPassed'): PairedDifference =>
    pairedBootstrap(
      both.map(({ task }) => first.get(task)![figure]),
      both.map((figures) => figures[figure]),
      plan.seed,
    );
  return { baseline, agent, success: paired('success'), testsPassed: paired('testsPassed') };
}
