/** `kind:inner,key=value,…`: an agent made of other models, such as `guided:starter,eta=4`. */
export interface WrappedSpec {
  /** What stands between the kind and the settings; may itself contain `:`, `,` and `=`. */
  readonly inner: string;
  readonly settings: ReadonlyMap<string, string>;
}

const LAST_SETTING = /,([a-z][a-z-]*)=([^,]*)$/i;

/** Settings are read from the end, as far as they look like settings. Undefined for a spec of another kind. */
export function wrappedSpec(spec: string, kind: string): WrappedSpec | undefined {
  if (!spec.startsWith(`${kind}:`)) return undefined;
  let inner = spec.slice(kind.length + 1);
  const settings: [string, string][] = [];
  for (let last = LAST_SETTING.exec(inner); last !== null; last = LAST_SETTING.exec(inner)) {
    settings.unshift([last[1]!, last[2]!]);
    inner = inner.slice(0, last.index);
  }
  return { inner, settings: new Map(settings) };
}
