import { editorApi } from '../editorApi';
import type { PageFile } from '../saving/protocol';
import type { ChartName, Choice } from '../chart/protocol';
import type { Action, FromWebview, PanelState } from './protocol';

const api = editorApi<FromWebview, PanelState>();

export const host = {
  ready: (choice: Choice): void => api.postMessage({ type: 'ready', choice }),
  choose: (choice: Choice): void => api.postMessage({ type: 'choose', choice }),
  act: (action: Action): void => api.postMessage({ type: 'act', action }),
  pin: ({ stage, figure }: ChartName, isPinned: boolean): void =>
    api.postMessage({ type: 'pin', stage, figure, isPinned }),
  save: (file: PageFile): void => api.postMessage({ type: 'save', file }),
  kept: (): unknown => api.getState(),
  keep: (state: PanelState): void => api.setState(state),
};
