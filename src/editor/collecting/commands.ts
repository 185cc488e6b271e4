import path from 'node:path';
import * as vscode from 'vscode';
import { views, type CommandId } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { pickOne, valueOf } from '../steps';
import type { Pack } from '../tasks/pack';
import type { Packs } from '../tasks/packs';
import { dialogues } from '../trajectories/words';
import type { Players } from './ask';
import type { CollectionSoFar } from './collect';

const { t } = vscode.l10n;

/** Opens the form of a new run on collected dialogues. */
interface TrainingForm {
  openOn(engine: Engine, collected: { readonly pack: string; readonly agent: string }): Promise<void>;
}

interface CollectionCommandContext {
  readonly engines: Engines;
  readonly packs: Packs;
  readonly runForms: TrainingForm;
}

/** Has agent and simulator play tasks of a pack, and offers what can be done with the dialogues. */
export async function collectPack(
  { engines, packs, runForms }: CollectionCommandContext,
  chosen: Pack | undefined,
): Promise<void> {
  const pack = chosen ?? (await choosePack(await packs.all()));
  if (pack === undefined) return;
  const engine = engines.of(pack.file);
  const { collectHere } = await import('./collect');
  const { askExtent } = await import('./ask');
  for (;;) {
    const asked: { change?: CommandId } = {};
    const play = await playOf(engine);
    const result = await collectHere(engine, packs, pack.tasks, async (played) => {
      const answer = await askExtent(pack, played, play);
      if (typeof answer !== 'string') return answer;
      asked.change = answer;
      return undefined;
    });
    if (asked.change === undefined) return result && tell(engine, pack, result, runForms);
    await vscode.commands.executeCommand(asked.change);
  }
}

/** Returns who plays with the settings of a folder, or who would, and what that costs. */
export async function playOf(
  engine: Engine,
  agentName = engine.agentName,
  simulatorName = engine.simulatorName,
): Promise<Players> {
  const { costWords } = await import('./ask');
  const { playsHere } = await import('./collect');
  const { QUICK } = await import('../../core/evaluation/loop/settings');
  const { FEW_TASKS } = await import('./extent');
  const log = await engine.log();
  const uses = await log.modelUse();
  const simulator = simulatorName === '' ? 'rules' : simulatorName;
  const players = [...new Set([agentName, simulator])].map((spec) => ({
    name: engine.calledBy(spec),
    price: engine.servers.find(spec)?.price,
    use: uses[spec],
    played: Math.max(log.count({ agent: spec }).total, log.count({ collaborator: spec }).total),
  }));
  return {
    agent: engine.calledBy(agentName),
    simulator: engine.calledBy(simulator),
    suggested: playsHere(engine, agentName) ? QUICK.trainTasks : FEW_TASKS,
    cost: (count) => costWords(count, players),
  };
}

async function tell(
  engine: Engine,
  { name, file }: Pack,
  { done, already, collection }: CollectionSoFar,
  runForms: TrainingForm,
): Promise<void> {
  const pack = path.basename(file);
  const { graded, successes } = (await engine.log()).count({ collection, pack });
  const [show, train] = [t('Show Trajectories'), t('New Run…')];
  const pressed = await vscode.window.showInformationMessage(
    done === already
      ? t('These dialogues were already played. Choose more tasks, or more dialogues per task.')
      : t('{0}: {1} played, {2} of {3} solved.', name, dialogues(done - already, t), successes, graded),
    show,
    train,
  );
  if (pressed === show) await vscode.commands.executeCommand(`${views.trajectories}.focus`);
  if (pressed === train) await runForms.openOn(engine, { pack, agent: engine.agentName });
}

async function choosePack(packs: readonly Pack[]): Promise<Pack | undefined> {
  if (packs.length < 2) return packs[0];
  const picked = await pickOne({
    ...{ title: t('Collect dialogues'), placeholder: t('Tasks of which pack?') },
    items: packs.map((pack) => ({
      label: pack.name,
      description: vscode.workspace.asRelativePath(pack.file),
      pack,
    })),
  });
  return valueOf(picked)?.pack;
}
