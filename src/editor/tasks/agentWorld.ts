import * as vscode from 'vscode';
import { SHIPPED_FOR } from '../../core/model/shippedModels';
import { teaches, WORLDS, worldOf, type World } from '../../core/task/starter/splits';
import { Runs } from '../../core/training/runs';
import { ifThere } from '../../core/trajectory/files';
import type { Engine } from '../engine';
import type { Pack, Packs } from '../packs';

/**
 * Packs to play next with the agent. One that learned from web pages, or from twenty questions, plays no others, so these
 * are generated where there are none.
 * @returns undefined when the person cancelled that
 * @throws {Fault} as `generateTasks`
 */
export async function packsForAgent({
  engine,
  packs,
}: {
  readonly engine: Engine;
  readonly packs: Packs;
}): Promise<readonly Pack[] | undefined> {
  const world = await worldOfAgent(engine);
  const all = await packs.all();
  const isOfWorld = ({ tasks }: Pack): boolean => tasks.some((task) => worldOf(task) === world);
  if (world === undefined) return all;
  if (world === 'functions') return all.toSorted((a, b) => Number(isOfWorld(b)) - Number(isOfWorld(a)));
  const heldOut = all.filter((pack) => isOfWorld(pack) && !pack.tasks.some(teaches));
  if (heldOut.length > 0) return heldOut;
  const { generateHeldOut } = await import('./adding/generateTasks');
  const file = await generateHeldOut(world, packs);
  return file === undefined ? undefined : (await packs.all()).filter((pack) => pack.file === file);
}

/** Undefined for an agent that has not learned from a world. */
async function worldOfAgent(engine: Engine): Promise<World | undefined> {
  const { agentName } = engine;
  const shipped = WORLDS.find((world) => SHIPPED_FOR[world] === agentName);
  // The data of a run name files, which an untrusted workspace must not have read.
  if (shipped !== undefined || !vscode.workspace.isTrusted) return shipped;
  const id = engine.runOf(agentName)?.id;
  const run = id === undefined ? undefined : await new Runs(engine.dataFolder).read(id);
  if (run === undefined) return undefined;
  const { worldOfRun } = await import('../../core/evaluation/comparison/heldOut');
  return ifThere(() => worldOfRun(run));
}
