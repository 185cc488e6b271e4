import { existsSync } from 'node:fs';
import path from 'node:path';
import { refuseIncomplete } from '../../dialogue/collect';
import { evaluate, type EvaluationPlan } from '../evaluate';
import { readLocalFolder } from '../../model/local/folder';
import type { Model } from '../../model/model';
import { modelOf, canStartPlay } from '../../training/runFolder';
import type { Run } from '../../training/runs';
import { keep, playedOf, settingOf, type ModelResult, type EvaluationSetting } from '../loop/evaluationCache';

export interface MeasurePlan extends Omit<EvaluationPlan, 'agents' | 'onProgress'> {
  readonly title: string;
  /** Their models can play (`canPlay`). */
  readonly runs: readonly Run[];
  /** Opens a model on this machine; `measure` closes it. @param place a folder, or a graph in it */
  readonly open: (place: string) => Model;
  readonly onProgress?: (agent: string, done: number, total: number) => void;
}

/**
 * Plays the same tasks under the same seeds with the model of each run, and with the model that the run began with
 * where that can play. Writes each result into the run's folder as soon as it is complete. Dialogues in the log are
 * not played again.
 * @throws {Fault} `dialogue/incomplete` when dialogues failed; as `evaluate`
 * @throws the signal's reason when it is aborted; finished play is in the log
 */
export async function measure(plan: MeasurePlan): Promise<EvaluationSetting> {
  const setting = settingOf(plan, plan.title);
  const known = new Map<string, Promise<ModelResult>>();
  const played = (place: string): Promise<ModelResult> => {
    let result = known.get(place);
    if (result === undefined) known.set(place, (result = play(place, plan)));
    return result;
  };
  for (const run of plan.runs) {
    const model = modelOf(run);
    const start = startOf(run, model);
    // Models play one after the other: two at once would share the machine, and gain nothing.
    const before = start === undefined ? undefined : await played(start);
    await keep(run.folder, setting, plan.tasks, {
      model: await played(model),
      ...(before && { start: before }),
    });
  }
  return setting;
}

/** Prefers the precision of the trained model, so that the two differ by the training alone. */
function startOf(run: Run, model: string): string | undefined {
  if (!canStartPlay(run)) return undefined;
  const { base } = run;
  const graph = path.join(base, 'onnx', path.basename(readLocalFolder(model).graph));
  return existsSync(graph) ? graph : base;
}

async function play(place: string, { open, onProgress, ...plan }: MeasurePlan): Promise<ModelResult> {
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
