import type { Action, FromWebview, PanelState } from './protocol';

interface VsCodeApi {
  postMessage(message: FromWebview): void;
  setState(state: PanelState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

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
