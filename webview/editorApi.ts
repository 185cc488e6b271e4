interface EditorApi<Message, State> {
  postMessage(message: Message): void;
  /** May have any shape: another version of the page may have kept it, before a reload of the window. */
  getState(): unknown;
  setState(state: State): void;
}

declare function acquireVsCodeApi<Message, State>(): EditorApi<Message, State>;

/** A page gets the API only once, so it calls this once, when it is loaded. */
export const editorApi = <Message, State>(): EditorApi<Message, State> => acquireVsCodeApi<Message, State>();
