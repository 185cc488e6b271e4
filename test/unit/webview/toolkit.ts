/*
 * A stand-in for the component toolkit, which needs a browser and has no translated text:
 * `vi.mock('@vscode/webview-ui-toolkit', () => import('./toolkit'))`.
 */

export const provideVSCodeDesignSystem = () => ({ register: () => undefined });

export const vsCodeButton = () => undefined;
export const vsCodeProgressRing = () => undefined;
export const vsCodeTextField = () => undefined;
