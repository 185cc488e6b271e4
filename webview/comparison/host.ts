import { editorApi } from '../editorApi';
import type { FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

/** Messages to the extension host, and the state that the editor keeps for the page. */
export const host = {
  send: (message: FromWebview): void => api.postMessage(message),
  /** Returns the state that the page kept, also before a reload of the window; it may have any shape. */
  kept: (): unknown => api.getState(),
  keep: (state: PanelState): void => api.setState(state),
};
