import type { Dialogue } from '../../core/dialogue/dialogue';
import type { Model } from '../../core/model/model';
import type { EventOf } from '../../core/trajectory/event';
import type { CandidatesView, StreamView } from '../../../webview/session/protocol';
import type { Feed } from './feed';
import { showLastTurn } from './spoken';
import { agentStream, messageView } from './view';

/*
 * Two candidates for the agent's message, while they are written and when they can be chosen from. Nothing that the view
 * is given tells which agent wrote which.
 */

/** Both agents write at once; the second is the agent itself when no other is configured. */
export async function candidatesSpeak(
  dialogue: Dialogue,
  second: Promise<Model | undefined>,
  feed: Feed,
  signal: AbortSignal,
): Promise<void> {
  const texts: [string, string] = ['', ''];
  const view = (): CandidatesView => ({
    isWritten: false,
    candidates: [streamOf(texts[0], feed), streamOf(texts[1], feed)],
  });
  feed.showCandidates(view());
  const rival = await second;
  await dialogue.drawCandidates({
    signal,
    ...(rival !== undefined && { rival }),
    onText: (place, piece) => {
      texts[place] += piece;
      feed.showCandidatesSoon(view);
    },
    onRestart: (place) => (texts[place] = ''),
  });
  if (dialogue.next === 'chooser') return;
  feed.showCandidates(undefined);
  showLastTurn(dialogue, feed);
}

export function candidatesView({ candidates: [first, second] }: EventOf<'candidates'>): CandidatesView {
  return { isWritten: true, candidates: [messageView(first.text), messageView(second.text)] };
}

const streamOf = (text: string, feed: Feed): StreamView =>
  text === '' ? { by: 'agent', text, thinking: 0 } : agentStream(text, feed.turns);
