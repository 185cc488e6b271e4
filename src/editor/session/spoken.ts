import type { Dialogue } from '../../core/dialogue/dialogue';
import type { Feed } from './feed';
import { agentStream, turnView } from './view';

/*
 * Messages while they are being written, and the turns they become. The feed shows a turn once it is in the log.
 */

/** The agent's next message. */
export async function agentSpeaks(dialogue: Dialogue, feed: Feed, signal: AbortSignal): Promise<void> {
  let text = '';
  feed.showStream({ by: 'agent', text: '', thinking: 0 });
  await dialogue.agentTurn({
    signal,
    onText: (piece) => {
      text += piece;
      feed.showStreamSoon(() => agentStream(text, feed.turns));
    },
    onRestart: () => (text = ''),
  });
  showLastTurn(dialogue, feed);
}

/** The simulator's reply to the agent's last message. */
export async function simulatorSpeaks(dialogue: Dialogue, feed: Feed, signal: AbortSignal): Promise<void> {
  let text = '';
  feed.showStream({ by: 'simulator', text: '', thinking: 0 });
  await dialogue.simulatorReply({
    signal,
    onText: (piece) => {
      text += piece;
      feed.showStreamSoon(() => ({ by: 'simulator', text, thinking: 0 }));
    },
    onRestart: () => (text = ''),
  });
  showLastTurn(dialogue, feed);
}

export function showLastTurn(dialogue: Dialogue, feed: Feed): void {
  feed.showTurn(turnView(dialogue.turns.at(-1)!));
}
