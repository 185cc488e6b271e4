import path from 'node:path';
import * as vscode from 'vscode';
import { simulatorModel } from '../../core/dialogue/specification/specificationSpec';
import type { TrajectoryFilter } from '../../core/trajectory/index/filter';
import { views, type CommandId } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { choosePack, type Pack, type ListedTask, type Packs } from '../packs';
import type { Players, Extent } from './askExtent';
import type { EndedCollection } from './collect';

const { t } = vscode.l10n;

interface TrainingForm {
  openOn(engine: Engine, collected: { readonly pack: string; readonly agent: string }): Promise<void>;
}

interface CollectionCommandContext {
  readonly engines: Engines;
  readonly packs: Packs;
  readonly runForms: TrainingForm;
}

export async function collectPack(
  { engines, packs, runForms }: CollectionCommandContext,
  chosen: Pack | undefined,
): Promise<void> {
  const pack = chosen ?? (await choosePack(await packs.all(), t('Collect dialogues')));
  if (pack === undefined) return;
  const engine = engines.of(pack.file);
  const { collectHere } = await import('./collect');
  const { askExtent } = await import('./askExtent');
  let chosenExtent: Extent<ListedTask> | undefined;
  for (;;) {
    const asked: { change?: CommandId } = {};
    const play = await playOf(engine);
    const ended = await collectHere(engine, packs, pack.tasks, async (played) => {
      // Play the rest as chosen before.
      if (chosenExtent !== undefined) return chosenExtent;
      const answer = await askExtent(pack, played, play);
      if (typeof answer === 'string') asked.change = answer;
      else chosenExtent = answer;
      return chosenExtent;
    });
    if (asked.change !== undefined) await vscode.commands.executeCommand(asked.change);
    else if (ended === undefined || !(await tell(engine, pack, ended, runForms))) return;
  }
}

/** Who would play, and the tokens and cost that it takes. */
export async function playOf(
  engine: Engine,
  agentName = engine.agentName,
  simulatorName = engine.simulatorName,
): Promise<Players> {
  const { estimateWords } = await import('./askExtent');
  const { playsHere } = await import('./collect');
  const { QUICK } = await import('../../core/evaluation/loop/settings');
  const { SUGGESTED_TASKS } = await import('./askExtent');
  const log = await engine.log();
  const uses = await log.modelUse();
  const simulator = simulatorName === '' ? 'rules' : simulatorName;
  const players = [...new Set([agentName, simulator])]
    .filter((spec) => spec !== 'rules')
    .map((spec) => {
      const finished = (filter: TrajectoryFilter): number =>
        log.count({ ...filter, state: 'answered' }).total;
      const sides = finished({ agent: spec }) + finished({ collaborator: spec });
      const plays: 1 | 2 = agentName === simulator ? 2 : 1;
      return {
        ...{
          name: engine.calledBy(spec),
          price: engine.servers.find(simulatorModel(spec))?.price,
          use: uses[spec],
        },
        ...{ sides, played: sides - finished({ agent: spec, collaborator: spec }), plays },
      };
    });
  return {
    agent: engine.calledBy(agentName),
    simulator: engine.calledBy(simulator),
    suggested: playsHere(engine, agentName) ? QUICK.trainTasks : SUGGESTED_TASKS,
    estimate: (count) => estimateWords(count, players),
  };
}

/** True when the person continues. */
async function tell(
  engine: Engine,
  { name, file }: Pack,
  ended: EndedCollection,
  runForms: TrainingForm,
): Promise<boolean> {
  const { endingWords, isComplete, showEnding } = await import('./collect');
  const pack = path.basename(file);
  const words = endingWords(ended, name, (await engine.log()).count({ collection: ended.collection, pack }));
  const [show, train, goOn] = [t('Show Dialogues'), t('New Run…'), t('Continue')];
  const pressed = await showEnding(ended, words, ...(isComplete(ended) ? [show, train] : [goOn, show]));
  if (pressed === show) await vscode.commands.executeCommand(`${views.trajectories}.focus`);
  if (pressed === train) await runForms.openOn(engine, { pack, agent: engine.agentName });
  return pressed === goOn;
}
