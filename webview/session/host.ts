import { editorApi } from '../editorApi';
import { isNumber, isText, part } from '../kept';
import type { Action, FromWebview, PanelState } from './protocol';

/** What the editor keeps of the page: what it needs to bring it back, and how long the dialogue has taken. */
type Kept = PanelState & { readonly elapsed?: Elapsed };

interface Elapsed {
  readonly episode: string;
  readonly milliseconds: number;
}

const isElapsed = (value: unknown): value is Elapsed =>
  part(value, 'episode', isText) !== undefined && part(value, 'milliseconds', isNumber) !== undefined;

const api = editorApi<FromWebview, Kept>();
/** What this page has kept last. */
let kept: Kept = {};

/** The extension host at the other end. */
export const host = {
  /** Called after each message to it. */
  onSent: (): void => undefined,
  send(message: FromWebview): void {
    api.postMessage(message);
    host.onSent();
  },
  act: (action: Action): void => host.send({ type: 'act', action }),
  /** What the editor gives back after a reload of the window. */
  keep: (state: PanelState): void => {
    const elapsed = part(api.getState(), 'elapsed', isElapsed);
    kept = { ...state, ...(elapsed && { elapsed }) };
    api.setState(kept);
  },
  /** How long a dialogue had taken when the page was last there, in milliseconds; 0 when it was not. */
  elapsed(episode: string | undefined): number {
    const elapsed = part(api.getState(), 'elapsed', isElapsed);
    return elapsed !== undefined && elapsed.episode === episode ? elapsed.milliseconds : 0;
  },
  keepElapsed(episode: string | undefined, milliseconds: number): void {
    if (episode !== undefined) api.setState({ ...kept, elapsed: { episode, milliseconds } });
  },
};
