/** Statuses with which servers refuse a parameter: bad request, OpenAI's "not allowed", validation, not implemented. */
const refusals = new Set([400, 403, 422, 501]);

const refusalWords =
  /unsupported|not support|unused|unrecogni[sz]ed|unknown|unexpected|extra[_ ]|not permitted|not allowed|not available|not enabled|not implemented|invalid (parameter|argument|field)/i;

export function isRefusal(status: number): boolean {
  return refusals.has(status);
}

/** Whether an answer refuses a parameter as such, not its value. */
export function refusesParameter(answer: string): boolean {
  return refusalWords.test(answer);
}

/**
 * The parameters that an answer refuses: the one that it names first, since later ones may be the remedy, and those that
 * stand in one list with it.
 * @param among the parameters that count
 */
export function refusedIn<Name extends string>(answer: string, among: readonly Name[]): Name[] {
  const known = new Set<string>(among);
  const words: readonly string[] = answer.match(/\w+/g) ?? [];
  const first = words.findIndex((word) => known.has(word));
  if (first < 0) return [];
  // FastAPI names each in a `loc`, as in ["body", "seed"].
  const isLocated = words[first - 1] === 'body';
  const end = endOfList(words, first, known);
  const named = new Set(
    words.filter((_, index) => index >= first && (isLocated ? words[index - 1] === 'body' : index < end)),
  );
  return among.filter((name) => named.has(name));
}

/** Says where the names end that follow each other without other words. */
function endOfList(words: readonly string[], first: number, known: ReadonlySet<string>): number {
  const after = words.findIndex((word, index) => index > first && word !== 'and' && !known.has(word));
  return after < 0 ? words.length : after;
}
