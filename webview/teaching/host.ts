import { editorApi } from '../editorApi';
import type { Action, FromWebview, SizeView } from './protocol';

const api = editorApi<FromWebview, undefined>();

/** The extension host at the other end. */
export const host = {
  ready: (): void => api.postMessage({ type: 'ready' }),
  start: (size: SizeView['value']): void => api.postMessage({ type: 'start', size }),
  act: (action: Action): void => api.postMessage({ type: 'act', action }),
};
