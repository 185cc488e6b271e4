import type { Dialogue } from '../../core/dialogue/dialogue';
import { AgentReading } from '../../core/dialogue/reading';
import { GrowingText } from '../../core/growingText';
import type { GenerateOptions } from '../../core/model/model';
import type { StreamView } from '../../../webview/session/protocol';
import type { Feed } from './feed';
import type { Scene } from './scene';
import { agentStream, simulatorStream, turnView } from './view';

/*
 * Messages while they are being written, and the turns they become. The feed shows a turn once it is in the log.
 */

/** The agent's next message; or, as `anotherSample`, its last one anew. */
export async function agentSpeaks(
  dialogue: Dialogue,
  scene: Scene,
  signal: AbortSignal,
  how: 'agentTurn' | 'anotherSample' = 'agentTurn',
): Promise<void> {
  const { feed } = scene;
  feed.showStream({ by: 'agent', text: '', thinking: 0 });
  await dialogue[how]({ signal, ...streaming(feed, AgentReading, (text) => agentStream(text, feed.turns)) });
  showLastTurn(dialogue, scene);
}

/** The simulator's reply to the agent's last message. */
export async function simulatorSpeaks(dialogue: Dialogue, scene: Scene, signal: AbortSignal): Promise<void> {
  const { feed } = scene;
  feed.showStream({ by: 'simulator', text: '', thinking: 0 });
  await dialogue.simulatorReply({
    signal,
    ...streaming(feed, GrowingText, simulatorStream),
  });
  showLastTurn(dialogue, scene);
}

export function showLastTurn(dialogue: Dialogue, { feed, t }: Scene): void {
  feed.showTurn(turnView(dialogue.turns.at(-1)!, t, dialogue.next === 'nobody'));
}

/** Shows the text as it grows, without reading again what it has read. */
function streaming<Text extends { push: (piece: string) => void }>(
  feed: Feed,
  Begun: new () => Text,
  view: (text: Text) => StreamView,
): Required<Pick<GenerateOptions, 'onText' | 'onRestart'>> {
  let text = new Begun();
  return {
    onText(piece) {
      text.push(piece);
      feed.showStreamSoon(() => view(text));
    },
    onRestart: () => (text = new Begun()),
  };
}
