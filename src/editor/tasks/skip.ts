import * as vscode from 'vscode';
import { deriveSeed } from '../../core/dialogue/seed';
import type { Task } from '../../core/task/task';
import { loggedReason, skipReasons } from '../reasons';
import type { SessionParts } from '../session/parts';
import { askText, pickOne, valueOf } from '../steps';

const { t } = vscode.l10n;

/** Asks why a task is skipped, and gives the reason as it is logged; undefined when the person turned back. */
export async function askSkipReason(title: string): Promise<string | undefined> {
  const other = t('Another reason…');
  const head = { title: t('Skip {0}', title) };
  const why = t('Why? The reason goes into the log.');
  const items = [...skipReasons(t), other].map((label) => ({ label }));
  const chosen = valueOf(await pickOne({ ...head, placeholder: why, items }))?.label;
  const reason = chosen === other ? valueOf(await askText({ ...head, prompt: why })) : chosen;
  return reason === undefined || reason === '' ? undefined : loggedReason(reason, t);
}

/**
 * Logs that a task was skipped of which no dialogue has begun: one without turns, which can be taken up all the same.
 * @param pack the file name of the pack
 */
export async function logSkipped(
  parts: SessionParts,
  { task, pack, reason }: { readonly task: Task; readonly pack: string; readonly reason: string },
): Promise<void> {
  const pseudonym = parts.consent.given?.pseudonym;
  if (pseudonym === undefined) throw new Error('Nothing is logged of a person who has not agreed to it.');
  const [log, prompts] = await Promise.all([parts.log(), parts.prompts()]);
  const { Dialogue } = await import('../../core/dialogue/dialogue');
  await parts.consent.record();
  const { id } = await Dialogue.start({
    log,
    prompts,
    task,
    pack,
    agent: {
      name: parts.agentName,
      generate: () => Promise.reject(new Error('A skipped task asks no agent.')),
    },
    collaborator: { kind: 'developer', name: pseudonym },
    protocol: parts.protocol,
    sampling: parts.sampling,
    seed: deriveSeed(task.id, Date.now()),
  });
  await log.append(
    { event: 'abandoned', episode: id, reason: 'skipped', message: reason },
    { durable: true },
  );
}
