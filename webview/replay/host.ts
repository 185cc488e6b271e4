import { editorApi } from '../editorApi';
import type { Action, FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

/** The extension host at the other end. */
export const host = {
  send: (message: FromWebview): void => api.postMessage(message),
  act: (action: Action, episode: string): void => api.postMessage({ type: 'act', action, episode }),
  /** What the editor gives back after a reload of the window. */
  keep: (state: PanelState): void => api.setState(state),
};
