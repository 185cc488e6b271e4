import { editorApi } from '../editorApi';
import type { Action, FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

/** Messages to the extension host, and the state that the editor keeps for the page. */
export const host = {
  send: (message: FromWebview): void => api.postMessage(message),
  act: (action: Action, episode: string): void => api.postMessage({ type: 'act', action, episode }),
  /** Keeps the state from which the editor restores the page after a reload of the window. */
  keep: (state: PanelState): void => api.setState(state),
};
