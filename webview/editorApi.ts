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

/** An older version of the page may have kept another shape: a part that does not fit counts as absent. */
export function part<Value>(
  kept: unknown,
  name: string,
  fits: (value: unknown) => value is Value,
): Value | undefined {
  if (!isRecord(kept) || !Object.hasOwn(kept, name)) return undefined;
  const value = kept[name];
  return fits(value) ? value : undefined;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
/** A fraction, 0 to 1. */
export const isShare = (value: unknown): value is number => isNumber(value) && value >= 0 && value <= 1;

export const isOneOf =
  <const Value extends string>(values: readonly Value[]) =>
  (value: unknown): value is Value =>
    values.some((one) => one === value);

export const isListOfTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
