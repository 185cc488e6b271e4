/** VS Code's API for webview pages. */
interface EditorApi<Message, State> {
  postMessage(message: Message): void;
  /** Returns the state kept last; another version of the page may have kept it, before a reload of the window. */
  getState(): unknown;
  setState(state: State): void;
}

declare function acquireVsCodeApi<Message, State>(): EditorApi<Message, State>;

/** Returns the editor's API, which a page gets only once: each page calls this once, when it is loaded. */
export const editorApi = <Message, State>(): EditorApi<Message, State> => acquireVsCodeApi<Message, State>();
