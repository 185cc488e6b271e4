import * as vscode from 'vscode';
import type { Credit } from '../../core/training/credit/credit';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import { askPseudonym } from '../pseudonym';

const { t } = vscode.l10n;

/** `agrees` is undefined when the verdict is taken back. */
export interface NewVerdict {
  readonly turn: number;
  readonly agrees: boolean | undefined;
}

/**
 * Logs the shown credit, too. A person without consent is asked for it first.
 * @returns true if it was logged
 * @throws {Fault} of the log
 */
export async function logVerdict(
  engine: Engine,
  trajectory: Trajectory,
  credit: Credit,
  { turn, agrees }: NewVerdict,
): Promise<boolean> {
  const by = await askPseudonym(
    engine,
    t(
      'Your verdicts on the critic are logged under a pseudonym. Choose one first, and how your data may be shared.',
    ),
  );
  const advantage = credit.turns.find((one) => one.turn === turn)?.advantage ?? null;
  if (by === undefined || advantage === null) return false;
  const { critic } = credit;
  const before = trajectory.turns
    .find(({ agent }) => agent.turn === turn)
    ?.verdicts?.find((verdict) => verdict.by === by && verdict.critic === critic);
  if (before?.agrees === agrees) return false;
  await engine.consent.record();
  const log = await engine.log();
  await log.append(
    {
      event: 'credit-verdict',
      episode: trajectory.id,
      turn,
      critic,
      advantage,
      ...(agrees !== undefined && { agrees }),
      by,
    },
    { durable: true },
  );
  return true;
}
