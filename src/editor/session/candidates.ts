import type { Dialogue } from '../../core/dialogue/dialogue';
import type { SampledAgent } from '../../core/dialogue/candidates';
import type { EventOf } from '../../core/trajectory/event';
import type { CandidatesView } from '../../../webview/session/protocol';
import { messageView } from './view';

/*
 * Two candidates for the agent's message. Nothing that the view is given tells which agent wrote which.
 */

/**
 * Both agents write at once; the second is the agent itself when no other is configured. Neither message is shown before
 * both are written: the faster model would give itself away.
 */
export async function candidatesWritten(
  dialogue: Dialogue,
  second: Promise<SampledAgent | undefined>,
  signal: AbortSignal,
): Promise<void> {
  const rival = await second;
  await dialogue.drawCandidates({ signal, ...(rival !== undefined && { rival }) });
}

export function candidatesView({ candidates: [first, second] }: EventOf<'candidates'>): CandidatesView {
  return [messageView(first.text), messageView(second.text)];
}
