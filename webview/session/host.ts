import { editorApi } from '../editorApi';
import { isNumber, isText, part } from '../kept';
import type { Action, FromWebview, PanelState } from './protocol';

/** State that the editor keeps for the page: the dialogue to restore, and the time that it has taken. */
type Kept = PanelState & { readonly elapsed?: Elapsed };

interface Elapsed {
  readonly episode: string;
  readonly milliseconds: number;
}

const isElapsed = (value: unknown): value is Elapsed =>
  part(value, 'episode', isText) !== undefined && part(value, 'milliseconds', isNumber) !== undefined;

const api = editorApi<FromWebview, Kept>();
/** State that this page kept last. */
let kept: Kept = {};

/** Messages to the extension host, and the state that the editor keeps for the page. */
export const host = {
  /** Called after each message to the host. */
  onSent: (): void => undefined,
  send(message: FromWebview): void {
    api.postMessage(message);
    host.onSent();
  },
  act: (action: Action): void => host.send({ type: 'act', action }),
  /** Keeps the state from which the editor restores the page after a reload of the window. */
  keep: (state: PanelState): void => {
    const elapsed = part(api.getState(), 'elapsed', isElapsed);
    kept = { ...state, ...(elapsed && { elapsed }) };
    api.setState(kept);
  },
  /** Returns the time that a dialogue had taken when it was kept, in milliseconds; 0 when it was not kept. */
  elapsed(episode: string | undefined): number {
    const elapsed = part(api.getState(), 'elapsed', isElapsed);
    return elapsed !== undefined && elapsed.episode === episode ? elapsed.milliseconds : 0;
  },
  keepElapsed(episode: string | undefined, milliseconds: number): void {
    if (episode !== undefined) api.setState({ ...kept, elapsed: { episode, milliseconds } });
  },
};
