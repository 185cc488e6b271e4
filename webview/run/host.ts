import { editorApi } from '../editorApi';
import type { Action, Choice, FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

/** The extension host at the other end. */
export const host = {
  ready: (choice: Choice): void => api.postMessage({ type: 'ready', choice }),
  choose: (choice: Choice): void => api.postMessage({ type: 'choose', choice }),
  act: (action: Action): void => api.postMessage({ type: 'act', action }),
  /** How the person last looked at the run; the editor keeps it over a reload of the window. */
  kept: (): unknown => api.getState(),
  keep: (state: PanelState): void => api.setState(state),
};
