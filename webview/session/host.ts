import { editorApi } from '../editorApi';
import type { Action, FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

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
  keep: (state: PanelState): void => api.setState(state),
};
