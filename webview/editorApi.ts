/** The editor, as a page of it sees it. */
interface EditorApi<Message, State> {
  postMessage(message: Message): void;
  /** What the page has kept last; also after a reload of the window, when another version of it may have kept it. */
  getState(): unknown;
  setState(state: State): void;
}

declare function acquireVsCodeApi<Message, State>(): EditorApi<Message, State>;

/** The editor gives it to a page once: a view calls this where it is loaded, and nowhere else. */
export const editorApi = <Message, State>(): EditorApi<Message, State> => acquireVsCodeApi<Message, State>();
