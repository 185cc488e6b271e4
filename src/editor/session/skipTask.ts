import * as vscode from 'vscode';
import { deriveSeed } from '../../core/seed';
import type { Task } from '../../core/task/task';
import { loggedReason, skipReasons } from '../reasons';
import type { Engine } from '../engine';
import { askText, pickOne, valueOf } from '../inputSteps';

const { t } = vscode.l10n;

/** Asks why a task is skipped, and returns the reason as it is logged; undefined when the person cancelled. */
export async function askSkipReason(title: string): Promise<string | undefined> {
  const other = t('Another reason…');
  const head = { title: t('Skip {0}', title) };
  const why = t('Why? The reason is logged.');
  const items = [...skipReasons(t), other].map((label) => ({ label }));
  const chosen = valueOf(await pickOne({ ...head, placeholder: why, items }))?.label;
  const reason = chosen === other ? valueOf(await askText({ ...head, prompt: why })) : chosen;
  return reason === undefined || reason === '' ? undefined : loggedReason(reason, t);
}

/** A dialogue without turns, which can still be resumed. @param pack the file name of the pack */
export async function logSkipped(
  engine: Engine,
  { task, pack, reason }: { readonly task: Task; readonly pack: string; readonly reason: string },
): Promise<void> {
  const pseudonym = engine.consent.given?.pseudonym;
  if (pseudonym === undefined) throw new Error('Nothing is logged of a person who has not agreed to it.');
  const [log, prompts] = await Promise.all([engine.log(), engine.prompts()]);
  const { Dialogue } = await import('../../core/dialogue/dialogue');
  await engine.consent.record();
  const { id } = await Dialogue.start({
    log,
    prompts,
    task,
    pack,
    agent: {
      name: engine.agentName,
      generate: () => Promise.reject(new Error('A skipped task asks no agent.')),
    },
    collaborator: { kind: 'developer', name: pseudonym },
    protocol: engine.protocol,
    sampling: engine.sampling,
    seed: deriveSeed(task.id, Date.now()),
  });
  await log.append(
    { event: 'abandoned', episode: id, reason: 'skipped', message: reason },
    { durable: true },
  );
}
