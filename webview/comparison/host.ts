import { editorApi } from '../editorApi';
import type { FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

export const host = {
  send: (message: FromWebview): void => api.postMessage(message),
  kept: (): unknown => api.getState(),
  keep: (state: PanelState): void => api.setState(state),
};
