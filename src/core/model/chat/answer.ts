import * as z from 'zod';
import type { Generation, SampledTokens, Usage } from '../model';

/** An entry of `choices[].logprobs.content[]`; llama.cpp adds `id`, and older vLLM writes the id into `token`. */
const tokenEntry = z.object({
  token: z.string().nullish(),
  logprob: z.number().nullish(),
  bytes: z.array(z.number()).nullish(),
  id: z.int().nullish(),
});

const message = z.object({
  content: z.string().nullish(),
  /** `reasoning_content`: llama.cpp, DeepSeek, older vLLM; `reasoning`: newer vLLM. */
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
});

const choice = z.object({
  index: z.int().nullish(),
  delta: message.nullish(),
  message: message.nullish(),
  logprobs: z.object({ content: z.array(tokenEntry).nullish() }).nullish(),
  finish_reason: z.string().nullish(),
  token_ids: z.array(z.int()).nullish(),
  prompt_token_ids: z.array(z.int()).nullish(),
});

export const chunkSchema = z.object({
  model: z.string().nullish(),
  choices: z.array(choice),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int().nullish() }).nullish(),
  /** Token counts so far, from llama.cpp: prompt tokens from its cache, prompt tokens read, and generated tokens. */
  timings: z
    .object({ cache_n: z.int().nullish(), prompt_n: z.int(), predicted_n: z.int() })
    .optional()
    .catch(undefined), // another server may mean something else by it
  prompt_token_ids: z.array(z.int()).nullish(),
});

export type Chunk = z.infer<typeof chunkSchema>;

type TokenEntry = z.infer<typeof tokenEntry>;

const finishReasons: Readonly<Record<string, Generation['finishReason']>> = {
  stop: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
};

export type FinishedAnswer = Omit<Generation, 'timing'>;

export class ChatAnswer {
  #text = '';
  #reasoning = '';
  #finish: string | undefined;
  #entries: TokenEntry[] = [];
  #tokenIds: number[] | undefined;
  #promptTokenIds: number[] | undefined;
  #usage: Usage | undefined;
  #usageSoFar: Usage | undefined;
  #servedModel: string | undefined;
  #hasChoice = false;

  /** @returns the text that the chunk adds, and whether it shows that the model is generating */
  add(chunk: Chunk): { text: string; generating: boolean } {
    this.#servedModel ??= chunk.model ?? undefined;
    this.#promptTokenIds ??= chunk.prompt_token_ids ?? undefined;
    if (chunk.usage)
      this.#usage = {
        promptTokens: chunk.usage.prompt_tokens,
        completionTokens: chunk.usage.completion_tokens ?? 0,
      };
    if (chunk.timings)
      this.#usageSoFar = {
        promptTokens: (chunk.timings.cache_n ?? 0) + chunk.timings.prompt_n,
        completionTokens: chunk.timings.predicted_n,
      };
    const choice = chunk.choices.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return { text: '', generating: false };

    this.#hasChoice = true;
    const part = choice.delta ?? choice.message;
    const text = part?.content ?? '';
    const reasoning = part?.reasoning_content ?? part?.reasoning ?? '';
    this.#text += text;
    this.#reasoning += reasoning;
    this.#finish = choice.finish_reason ?? this.#finish;
    this.#promptTokenIds ??= choice.prompt_token_ids ?? undefined;
    // A chunk may hold more of them than a call can have arguments, so `push(...ids)` would fail.
    for (const id of choice.token_ids ?? []) (this.#tokenIds ??= []).push(id);
    for (const entry of choice.logprobs?.content ?? []) this.#entries.push(entry);
    const generating =
      text !== '' || reasoning !== '' || choice.token_ids != null || choice.finish_reason != null;
    return { text, generating };
  }

  get length(): number {
    return this.#text.length + this.#reasoning.length;
  }

  get hasChoice(): boolean {
    return this.#hasChoice;
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  /** @returns why token data was discarded, if so; `lacksEnd`: no log-probability for the token that ended the turn */
  finish(): { answer: FinishedAnswer; droppedTokens?: string; lacksEnd: boolean } {
    const { tokens, dropped } = this.#tokens();
    const usage = this.#usage ?? this.#usageSoFar ?? usageOf(this.#promptTokenIds, tokens?.ids);
    const answer: FinishedAnswer = {
      text: this.#text,
      finishReason: finishReasons[this.#finish ?? ''] ?? 'other',
      ...(this.#reasoning !== '' && { reasoning: this.#reasoning }),
      ...(tokens && { tokens }),
      ...(this.#promptTokenIds && { promptTokenIds: this.#promptTokenIds }),
      ...(usage && { usage }),
      ...(this.#servedModel !== undefined && { servedModel: this.#servedModel }),
    };
    const lacksEnd = tokens !== undefined && this.#lacksEnd(tokens);
    return { answer, lacksEnd, ...(dropped !== undefined && { droppedTokens: dropped }) };
  }

  /** Training takes these as the sampled tokens, so inconsistent data are discarded. */
  #tokens(): { tokens?: SampledTokens; dropped?: string } {
    const entries = this.#entries;
    if (entries.length > 0 && bytesAreMissing(entries, this.#reasoning + this.#text))
      return this.#tokenIds
        ? { tokens: { ids: this.#tokenIds }, dropped: 'log-probabilities are missing for part of the text' }
        : { dropped: 'log-probabilities and token ids are missing for part of the text' };

    const logprobs = complete(entries.map(({ logprob }) => logprob ?? undefined));
    const ids = this.#tokenIds ?? complete(entries.map(entryId));
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
    if (ids.length !== logprobs.length + 1 || !this.#endedItself) return false;
    const named = complete(this.#entries.map(entryId));
    return named ? named.every((id, at) => id === ids[at]) : this.#entriesAreTheText;
  }

  #lacksEnd({ ids, logprobs }: SampledTokens): boolean {
    if (!ids || !logprobs || !this.#endedItself) return false;
    const last = this.#entries.at(-1)?.bytes ?? [];
    return ids.length > logprobs.length || (last.length > 0 && this.#entriesAreTheText);
  }

  get #endedItself(): boolean {
    return finishReasons[this.#finish ?? ''] === 'stop';
  }

  get #entriesAreTheText(): boolean {
    return this.#reasoning === '' && textOf(this.#entries)?.trim() === this.#text.trim();
  }
}

function usageOf(
  prompt: readonly number[] | undefined,
  ids: readonly number[] | undefined,
): Usage | undefined {
  return prompt && ids && { promptTokens: prompt.length, completionTokens: ids.length };
}

function entryId(entry: TokenEntry): number | undefined {
  if (entry.id != null) return entry.id;
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
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.bytes) return false;
    bytes += entry.bytes.length;
  }
  return bytes < Buffer.byteLength(text);
}
