import { editorApi } from '../editorApi';
import type { Action, FormState, FromWebview, Values } from './protocol';

const api = editorApi<FromWebview, FormState>();

/** The extension host at the other end. */
export const host = {
  ready: (values: Values | undefined): void =>
    api.postMessage({ type: 'ready', ...(values !== undefined && { values }) }),
  change: (values: Values): void => api.postMessage({ type: 'change', values }),
  act: (action: Action): void => api.postMessage({ type: action }),
  /** What the form was when the page was last there; the editor keeps it over a reload of the window. */
  kept: (): unknown => api.getState(),
  keep: (state: FormState): void => api.setState(state),
};
