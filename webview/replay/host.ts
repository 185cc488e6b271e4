import { editorApi } from '../editorApi';
import type { Action, FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

export const host = {
  send: (message: FromWebview): void => api.postMessage(message),
  act: (action: Action, episode: string): void => api.postMessage({ type: 'act', action, episode }),
  keep: (state: PanelState): void => api.setState(state),
};
