interface EditorApi<Message, State> {
  postMessage(message: Message): void;
  /** May have any shape: another version of the page may have kept it, before a reload of the window. */
  getState(): unknown;
  setState(state: State): void;
}

declare function acquireVsCodeApi(): unknown;

let acquired: unknown;

/** A page gets the API only once, so all its files share it. */
export const editorApi = <Message, State>(): EditorApi<Message, State> =>
  (acquired ??= acquireVsCodeApi()) as EditorApi<Message, State>;
