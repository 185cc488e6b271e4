import { editorApi } from '../editorApi';
import type { FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

/** The extension host at the other end. */
export const host = {
  send: (message: FromWebview): void => api.postMessage(message),
  /** How the person last looked at the figures; the editor keeps it over a reload of the window. */
  kept: (): unknown => api.getState(),
  keep: (state: PanelState): void => api.setState(state),
};
