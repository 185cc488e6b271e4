import { isObject } from '../../json';
import type { Generation, SampledTokens, Usage } from '../model';
import { wordsIn } from '../../text';

/** An entry of `choices[].logprobs.content[]`; llama.cpp adds `id`, and older vLLM writes the id into `token`. */
interface TokenEntry {
  readonly token?: string;
  readonly logprob?: number;
  readonly bytes?: readonly number[];
  readonly id?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Part of a server's answer, parsed JSON. No field is required and none has to have the documented type: what cannot be
 * used is as if it were absent.
 */
export type Chunk = Fields & { readonly choices: readonly Fields[] };

export function chunkOf(value: Fields): Chunk {
  const { choices } = value;
  return { ...value, choices: Array.isArray(choices) ? choices.filter(isObject) : [] };
}

export type FinishedAnswer = Omit<Generation, 'timing'>;

export class ChatAnswer {
  #text = '';
  #reasoning = '';
  /** Why the message ended, as the server names it. */
  reason: string | undefined;
  hasChoice = false;
  #entries: TokenEntry[] = [];
  /** Undefined where the server wrote something else. */
  #tokenIds: (number | undefined)[] = [];
  #promptTokenIds: readonly number[] | undefined;
  #usage: Usage | undefined;
  #usageSoFar: Usage | undefined;
  #servedModel: string | undefined;
  #hasDeltas = false;

  /** @returns the text that the chunk adds, and whether it shows that the model is generating */
  add(chunk: Chunk): { text: string; generating: boolean } {
    // Azure's first chunk has an empty name.
    this.#servedModel ??= textIn(chunk.model) || undefined;
    this.#promptTokenIds ??= idsIn(chunk.prompt_token_ids);
    this.#usage = usageIn(chunk.usage) ?? this.#usage;
    this.#usageSoFar = usageSoFarIn(chunk.timings) ?? this.#usageSoFar;
    const choice = chunk.choices.find(({ index }) => (countIn(index) ?? 0) === 0);
    if (!choice) return { text: '', generating: false };

    this.hasChoice = true;
    const { text, reasoning } = this.#said(choice);
    const reason = reasonIn(choice.finish_reason);
    this.#text += text;
    this.#reasoning += reasoning;
    if (reason !== undefined && !isFailure(this.reason)) this.reason = reason;
    this.#promptTokenIds ??= idsIn(choice.prompt_token_ids);
    const ids = listIn(choice.token_ids);
    // A chunk may hold more of them than a call can have arguments, so `push(...ids)` would fail.
    for (const id of ids) this.#tokenIds.push(idIn(id));
    for (const entry of entriesIn(choice.logprobs)) this.#entries.push(entry);
    const generating = text !== '' || reasoning !== '' || ids.length > 0 || reason !== undefined;
    return { text, generating };
  }

  /** Some servers close a stream of deltas with the whole `message`, of which only the rest is new. */
  #said({ delta, message }: Fields): { text: string; reasoning: string } {
    const added = spokenIn(delta);
    if (added.text !== '' || added.reasoning !== '') {
      this.#hasDeltas = true;
      return added;
    }
    const whole = spokenIn(message);
    if (!this.#hasDeltas) return whole;
    return {
      text: restOf(whole.text, this.#text),
      reasoning: restOf(whole.reasoning, this.#reasoning),
    };
  }

  get length(): number {
    return this.#text.length + this.#reasoning.length;
  }

  get words(): number {
    return `${this.#reasoning} ${this.#text}`.match(/\S+/g)?.length ?? 0;
  }

  get ending(): Ending {
    return endingOf(this.reason);
  }

  /** @returns why token data was discarded, if so; `lacksEnd`: no log-probability for the token that ended the turn */
  finish(): { answer: FinishedAnswer; droppedTokens?: string; lacksEnd: boolean } {
    const { ending } = this;
    const { tokens, dropped } = this.#tokens();
    const promptTokenIds = this.#promptTokenIds;
    const counted = promptTokenIds &&
      tokens?.ids && { promptTokens: promptTokenIds.length, completionTokens: tokens.ids.length };
    const usage = this.#usage ?? this.#usageSoFar ?? counted;
    const answer: FinishedAnswer = {
      text: this.#text,
      finishReason: ending === 'stop' || ending === 'length' ? ending : 'other',
      ...(this.#reasoning !== '' && { reasoning: this.#reasoning }),
      ...(tokens && { tokens }),
      ...(promptTokenIds && { promptTokenIds }),
      ...(usage && { usage }),
      ...(this.#servedModel !== undefined && { servedModel: this.#servedModel }),
    };
    const lacksEnd = tokens !== undefined && this.#lacksEnd(tokens);
    return { answer, lacksEnd, droppedTokens: dropped };
  }

  /** Training takes these as the sampled tokens, so inconsistent data are discarded. */
  #tokens(): { tokens?: SampledTokens; dropped?: string } {
    const entries = this.#entries;
    const listed = complete(this.#tokenIds);
    if (this.#tokenIds.length > 0 && !listed) return { dropped: 'some of the token ids are none' };
    if (entries.length > 0 && bytesAreMissing(entries, this.#reasoning + this.#text))
      return {
        tokens: listed && { ids: listed },
        dropped: 'log-probabilities are missing for part of the text',
      };
    const logprobs = complete(entries.map(({ logprob }) => logprob));
    const ids = listed ?? complete(entries.map(entryId));
    if (ids && logprobs && ids.length !== logprobs.length && !this.#lacksEndOnly(ids, logprobs))
      return {
        tokens: { ids },
        dropped: `${logprobs.length} log-probabilities came with ${ids.length} token ids`,
      };
    if (!ids && !logprobs) return {};
    return { tokens: { ...(ids && { ids }), ...(logprobs && { logprobs }) } };
  }

  /** True if only the log-probability of the last token is missing, which ended the turn and wrote no text. */
  #lacksEndOnly(ids: readonly number[], logprobs: readonly number[]): boolean {
    if (ids.length !== logprobs.length + 1 || this.ending !== 'stop') return false;
    const named = complete(this.#entries.map(entryId));
    return named ? named.every((id, at) => id === ids[at]) : this.#entriesAreTheText;
  }

  #lacksEnd({ ids, logprobs }: SampledTokens): boolean {
    if (!ids || !logprobs || this.ending !== 'stop') return false;
    const last = this.#entries.at(-1)?.bytes ?? [];
    return ids.length > logprobs.length || (last.length > 0 && this.#entriesAreTheText);
  }

  get #entriesAreTheText(): boolean {
    return this.#reasoning === '' && textOf(this.#entries)?.trim() === this.#text.trim();
  }
}

/** Types of content parts; those of other types are left out, such as pictures and results of tools. */
const SPOKEN = new Set(['undefined', 'null', 'text', 'output_text', 'input_text', 'refusal']);
const THOUGHTS = new Set(['thinking', 'reasoning', 'reasoning_content', 'redacted_thinking']);

function spokenIn(part: unknown): { text: string; reasoning: string } {
  if (!isObject(part)) return { text: '', reasoning: '' };
  const { content, refusal, reasoning_content, reasoning, thinking, reasoning_details } = part;
  const parts = Array.isArray(content) ? content : [content];
  const ofTypes = (types: ReadonlySet<string>): string =>
    parts
      .filter((one) => types.has(isObject(one) ? String(one.type) : 'text'))
      .map(textIn)
      .join('');
  const thoughts = ofTypes(THOUGHTS);
  // `reasoning_content`: llama.cpp, DeepSeek, older vLLM; `reasoning`: newer vLLM; OpenRouter repeats it in the details.
  const apart = [reasoning_content, reasoning, thinking, reasoning_details].map(textIn);
  return {
    text: ofTypes(SPOKEN) || textIn(refusal),
    reasoning: thoughts || (apart.find((one) => one !== '') ?? ''),
  };
}

/** A text, or the texts of a part or of a list of parts. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('');
  if (!isObject(value)) return '';
  const { text, thinking, reasoning, summary, content, refusal } = value;
  const found = [text, thinking, reasoning, summary, content, refusal].map(textIn);
  return found.find((one) => one !== '') ?? textIn(value.value);
}

function restOf(whole: string, known: string): string {
  if (known === '') return whole;
  if (whole.startsWith(known)) return whole.slice(known.length);
  return whole.trim() === known.trim() ? '' : whole;
}

/** An entry without a log-probability stands for what cannot be read, so that the others do not pass for all. */
function entriesIn(logprobs: unknown): TokenEntry[] {
  if (logprobs == null) return [];
  const content = isObject(logprobs) ? logprobs.content : logprobs;
  if (content == null && isObject(logprobs)) return Object.values(logprobs).some(isFilledList) ? [{}] : [];
  return Array.isArray(content) ? content.map(entryIn) : [{}];
}

const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

function entryIn(value: unknown): TokenEntry {
  if (!isObject(value)) return {};
  const { token, logprob, bytes, id } = value;
  return {
    token: typeof token === 'string' ? token : undefined,
    logprob: typeof logprob === 'number' ? logprob : undefined,
    bytes: idsIn(bytes),
    id: idIn(id),
  };
}

const listIn = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value == null ? [] : [value];

const idIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

function idsIn(value: unknown): readonly number[] | undefined {
  return Array.isArray(value) && value.every((id) => idIn(id) !== undefined)
    ? (value as number[])
    : undefined;
}

/** Some servers write counts as fractions or as text. */
function countIn(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' ? idIn(Math.round(count)) : undefined;
}

function usageIn(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const promptTokens = countIn(value.prompt_tokens);
  const completionTokens = countIn(value.completion_tokens);
  if (promptTokens === undefined) return undefined;
  if (completionTokens !== undefined) return { promptTokens, completionTokens };
  const total = countIn(value.total_tokens);
  return total === undefined
    ? undefined
    : { promptTokens, completionTokens: Math.max(0, total - promptTokens) };
}

/** From llama.cpp: prompt tokens from its cache, prompt tokens read, and generated tokens. */
function usageSoFarIn(timings: unknown): Usage | undefined {
  if (!isObject(timings)) return undefined;
  const [read, written] = [countIn(timings.prompt_n), countIn(timings.predicted_n)];
  if (read === undefined || written === undefined) return undefined;
  return { promptTokens: (countIn(timings.cache_n) ?? 0) + read, completionTokens: written };
}

function entryId(entry: TokenEntry): number | undefined {
  if (entry.id !== undefined) return entry.id;
  const written = /^token_id:(\d+)$/.exec(entry.token ?? '')?.[1];
  return written === undefined ? undefined : Number(written);
}

/** Undefined if the list is empty or an element is missing. */
function complete(values: (number | undefined)[]): number[] | undefined {
  const present = values.filter((value) => value !== undefined);
  return present.length > 0 && present.length === values.length ? present : undefined;
}

/** Undefined if a token has no bytes. Each token may hold part of a character. */
function textOf(entries: readonly TokenEntry[]): string | undefined {
  const bytes = entries.flatMap(({ bytes }) => (bytes ? [Buffer.from(bytes)] : []));
  return bytes.length === entries.length ? Buffer.concat(bytes).toString() : undefined;
}

/**
 * llama.cpp omits tokens of incomplete characters. More bytes than text are fine: an end-of-turn token or a stop
 * string is not part of the text.
 */
function bytesAreMissing(entries: readonly TokenEntry[], text: string): boolean {
  if (entries.some(({ bytes }) => bytes === undefined)) return false;
  return entries.flatMap(({ bytes }) => bytes ?? []).length < Buffer.byteLength(text);
}

/** How a message ended; `docs/models.md` lists which words of servers mean what. */
export type Ending = Generation['finishReason'] | 'filtered' | 'unfinished' | 'unknown';

/** Without their case, underscores and the like. Every other word means that the message is not finished, too. */
const ENDINGS: Readonly<Record<Exclude<Ending, 'unknown'>, string>> = {
  stop: `
    stop stopped stopsequence stopstr stopword stoptoken eos eostoken endturn
    endofturn endoftext end finish finished complete completed done success
  `,
  length: `
    length maxtokens maxlength maxnewtokens maxoutputtokens maxcompletiontokens
    modellength tokenlimit contextlength modelcontextwindowexceeded
  `,
  // Tandem offers no tools, so there is nothing to go on with.
  other: 'toolcalls toolcall tooluse functioncall',
  unfinished: `
    error failed abort aborted cancel canceled cancelled timeout networkerror insufficientsystemresource
  `,
  filtered: `
    contentfilter contentfiltered filtered safety recitation blocklist spii sensitive
    prohibitedcontent refusal guardrailintervened moderation
  `,
};

const BY_WORD = new Map(
  Object.entries(ENDINGS).flatMap(([ending, words]) =>
    wordsIn(words).map((word) => [word, ending as Ending] as const),
  ),
);

/** Undefined where the server names none yet, as by Ollama's empty text in every chunk. */
function reasonIn(value: unknown): string | undefined {
  // SGLang's own form is {"type": "stop", "matched": …}.
  if (typeof value === 'object' && value !== null && 'type' in value) return reasonIn(value.type);
  if (value == null || value === false) return undefined;
  const reason = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  return /^(?:null|none|)$/i.test(reason) ? undefined : reason;
}

export function endingOf(reason: string | undefined): Ending {
  return reason === undefined ? 'unknown' : (BY_WORD.get(wordOf(reason)) ?? 'unfinished');
}

/** True for a reason that no later one takes back. */
function isFailure(reason = ''): boolean {
  const ending = BY_WORD.get(wordOf(reason));
  return ending === 'unfinished' || ending === 'filtered';
}

/** `FINISH_REASON_MAX_TOKENS` and `max-tokens` are one word. */
const wordOf = (reason: string): string =>
  reason
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/^finishreason/, '');
