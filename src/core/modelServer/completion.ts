import { randomUUID } from 'node:crypto';
import type { LocalGeneration } from '../model/local/model';
import type { TurnPiece, TurnTokens } from '../model/local/protocol';
import type { LikelyToken } from '../model/local/sampling';
import type { TokenText } from '../model/local/tokenTexts';
import type { Usage } from '../model/model';
import type { ChatRequest } from './request';

/** What writes the answers of one request needs to know of the model. */
export interface ServedName {
  readonly id: string;
  /** Identifies the weights. */
  readonly fingerprint: string;
  readonly textOf: (id: number) => TokenText;
}

/** Puts the answers to one request into the form of the API, whole or in chunks. Field names are the API's. */
export class Completion {
  readonly #head: { readonly id: string; readonly created: number; readonly model: string };
  readonly #fingerprint: string;

  constructor(
    private readonly request: ChatRequest,
    private readonly model: ServedName,
  ) {
    const created = Math.floor(Date.now() / 1000);
    this.#head = { id: `chatcmpl-${randomUUID()}`, created, model: model.id };
    this.#fingerprint = model.fingerprint;
  }

  /** Returns the whole answer of one request, which has one generation for each choice. */
  whole(generations: readonly LocalGeneration[]): object {
    return {
      ...this.#headOf('chat.completion'),
      choices: generations.map(({ text, tokens, finishReason }, index) => ({
        index,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: this.#logprobs(tokens),
        finish_reason: finishReason,
        ...this.#ids(tokens),
      })),
      usage: usageOf(generations),
      ...this.#promptIds(generations[0]!.promptTokenIds),
    };
  }

  /** Returns the first chunk of a choice. */
  begin(index: number, promptIds: readonly number[]): object {
    const delta = { role: 'assistant', content: '', refusal: null };
    return { ...this.#chunk({ index, delta }), ...this.#promptIds(promptIds) };
  }

  /** Returns the chunk of a piece; none for tokens without text when only the text is asked for. */
  piece(index: number, { piece, ...tokens }: TurnPiece): object | undefined {
    const { logprobs, tokenIds } = this.request;
    if (piece === '' && !logprobs && !tokenIds) return undefined;
    return this.#chunk({ index, delta: { content: piece }, tokens });
  }

  end(index: number, { finishReason }: LocalGeneration): object {
    return this.#chunk({ index, delta: {}, finishReason });
  }

  /** Returns the last chunk of a stream, with the token counts. */
  usage(generations: readonly LocalGeneration[]): object {
    return { ...this.#headOf('chat.completion.chunk'), choices: [], usage: usageOf(generations) };
  }

  #chunk(choice: {
    readonly index: number;
    readonly delta: object;
    readonly tokens?: TurnTokens;
    readonly finishReason?: string;
  }): object {
    const { index, delta, tokens, finishReason = null } = choice;
    return {
      ...this.#headOf('chat.completion.chunk'),
      choices: [
        {
          index,
          delta,
          logprobs: tokens === undefined ? null : this.#logprobs(tokens),
          finish_reason: finishReason,
          ...(tokens && this.#ids(tokens)),
        },
      ],
      ...(this.request.includeUsage && { usage: null }),
    };
  }

  #headOf(object: string): object {
    return { ...this.#head, object, system_fingerprint: this.#fingerprint };
  }

  #promptIds(ids: readonly number[]): object {
    return this.request.tokenIds ? { prompt_token_ids: ids } : {};
  }

  #ids({ ids }: TurnTokens): object {
    return this.request.tokenIds ? { token_ids: ids } : {};
  }

  #logprobs({ ids, logprobs, alternatives }: TurnTokens): object | null {
    if (!this.request.logprobs) return null;
    const content = ids.map((id, at) => ({
      ...this.#entry({ id, logprob: logprobs[at]! }),
      top_logprobs: (alternatives?.[at] ?? []).map((token) => this.#entry(token)),
    }));
    return { content, refusal: null };
  }

  #entry({ id, logprob }: LikelyToken): object {
    const { text, bytes } = this.model.textOf(id);
    return {
      token: this.request.tokensAsIds ? `token_id:${id}` : text,
      // A token that a graph rules out has minus infinity, which JSON cannot hold; OpenAI writes this in its place.
      logprob: Math.max(logprob, -9999),
      bytes,
    };
  }
}

/** Adds up the answers; the prompt that they share counts once. */
function usageOf(generations: readonly { readonly usage: Usage }[]): object {
  const prompt = generations[0]!.usage.promptTokens;
  const completion = generations.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
