import { existsSync } from 'node:fs';
import path from 'node:path';
import { refuseIncomplete } from '../dialogue/collect';
import { evaluate, type EvaluationPlan } from '../evaluation/evaluate';
import { readLocalFolder } from '../model/local/folder';
import type { Model } from '../model/model';
import { runFiles } from '../training/runFolder';
import type { Run } from '../training/runs';
import { canStartPlay } from './playable';
import { keep, playedOf, settingOf, type Played, type Setting } from '../loop/kept';

export interface MeasurePlan extends Omit<EvaluationPlan, 'agents' | 'onProgress'> {
  /** What the tasks are called. */
  readonly title: string;
  /** Runs whose model can play (`canPlay`). */
  readonly runs: readonly Run[];
  /** Opens a model that plays on this machine; whoever measures closes it. @param place a folder, or a graph in it */
  readonly open: (place: string) => Model;
  readonly onProgress?: (agent: string, done: number, total: number) => void;
}

/**
 * Plays the same tasks under the same seeds with the model of each run, and with what it began with where that can
 * play, and keeps each result in the run's folder as soon as it is there. What the log has of it is not played again.
 *
 * @throws {Fault} `dialogue/incomplete` when dialogues failed; as `evaluate`
 * @throws the signal's reason when it is aborted; what was played is in the log
 */
export async function measure(plan: MeasurePlan): Promise<Setting> {
  const setting = settingOf(plan, plan.title);
  const known = new Map<string, Promise<Played>>();
  const played = (place: string): Promise<Played> => {
    let result = known.get(place);
    if (result === undefined) known.set(place, (result = play(place, plan)));
    return result;
  };
  for (const run of plan.runs) {
    const model = path.join(run.folder, runFiles.model);
    const start = startOf(run, model);
    // One after the other: two models at once would share the machine, and gain nothing.
    const before = start === undefined ? undefined : await played(start);
    await keep(run.folder, setting, plan.tasks, {
      model: await played(model),
      ...(before && { start: before }),
    });
  }
  return setting;
}

/** In the precision of the trained model, if it is there, so that the two differ by the training alone. */
function startOf(run: Run, model: string): string | undefined {
  if (!canStartPlay(run)) return undefined;
  const { base } = run;
  const graph = path.join(base, 'onnx', path.basename(readLocalFolder(model).graph));
  return existsSync(graph) ? graph : base;
}

async function play(place: string, { open, onProgress, ...plan }: MeasurePlan): Promise<Played> {
  const agent = open(place);
  try {
    const { agents } = await evaluate({
      ...plan,
      agents: [agent],
      onProgress: (name, { done, total }) => onProgress?.(name, done, total),
    });
    refuseIncomplete(agents[0]!.collection);
    return playedOf(agents[0]!, plan.mode);
  } finally {
    await agent.close?.();
  }
}
