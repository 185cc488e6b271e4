/** One message in the form of chat completion APIs. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface SamplingSettings {
  /** 0 is greedy. */
  readonly temperature: number;
  /**
   * Sample only from the most likely tokens that together have this probability; 1 or absent: all. Applies after
   * temperature and top-k.
   */
  readonly topP?: number;
  /** Sample only from this many of the most likely tokens; 0 or absent: all. */
  readonly topK?: number;
  /** Maximum number of tokens of one turn. */
  readonly maxTokens: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
}

/** The server's own sampling during a request, by the names of its API. */
export interface ServerSampling {
  /** Fields that were sent with a value that disables them. */
  readonly neutral: readonly string[];
  /** Fields that it refused; if it has its own values for them, those were in force. */
  readonly refused?: readonly string[];
}

/** The tokens of a generated turn, exactly as sampled. */
export interface SampledTokens {
  /** Vocabulary ids, one per sampled token; llama.cpp omits the token that ended the turn. */
  readonly ids?: readonly number[];
  /**
   * Natural log-probability of each sampled token. If the model ended the turn, the value of its last token may be
   * missing: then there is one fewer than `ids`, or `ids` lack that token too, as with llama.cpp.
   */
  readonly logprobs?: readonly number[];
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The result of one request. */
export interface Generation {
  readonly text: string;
  /** Thoughts of a reasoning model before `text`, if the server separates them. Their tokens are among `tokens`. */
  readonly reasoning?: string;
  /** `length`: it reached `maxTokens`. `other`: the caller had `enough`, or the server gave no known reason. */
  readonly finishReason: 'stop' | 'length' | 'other';
  readonly tokens?: SampledTokens;
  /** Vocabulary ids of the prompt, if the server returns them. */
  readonly promptTokenIds?: readonly number[];
  /** Absent if the server does not count; many servers do not for an answer that the caller stopped. */
  readonly usage?: Usage;
  /** Absent for models without a server, and for OpenAI's server. */
  readonly serverSampling?: ServerSampling;
  /** Model name reported by the server, which may be more exact than the requested one. */
  readonly servedModel?: string;
  readonly timing: {
    /**
     * Milliseconds from the call to the first text of the final attempt, earlier attempts and waits included; absent if
     * nothing was streamed.
     */
    readonly firstTextMs?: number;
    /** Milliseconds from the call to the end of the answer. */
    readonly totalMs: number;
    /** Number of requests; 1 if none was repeated. */
    readonly attempts: number;
  };
}

export interface GenerateOptions {
  readonly signal?: AbortSignal;
  /** Called with each piece of text as it arrives. */
  readonly onText?: (piece: string) => void;
  /**
   * Called when an attempt failed and another follows: the text received so far is void, and the answer starts over.
   */
  readonly onRestart?: (why: string) => void;
  /**
   * Called after each piece of text. If it returns true, the model is stopped, and the text so far is the answer, with
   * the finish reason `other`.
   */
  readonly enough?: () => boolean;
  /** Position in the dialogue; scripted models choose their canned turn by it. */
  readonly position?: { readonly description: string; readonly turn: number };
}

/** Counts of a model's requests since it was opened. */
export interface ModelCounts {
  /** Requests sent, repeated ones included. */
  readonly requests: number;
  /** Requests repeated because the one before failed. */
  readonly retries: number;
  /** Tokens counted by the server, or as they arrived one by one; answers that broke off are not included. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Answers without token counts from the server; with them, the two sums are too low. */
  readonly answersWithoutUsage: number;
}

/** Anything that can write the next message of a conversation. */
export interface Model {
  /** Name as on the command line: `openai:gpt-4o@http://…`, `script:turns.json`. */
  readonly name: string;
  /** Owner of the terms that bind its text, if that must be recorded: `editor` for models that the editor offers. */
  readonly terms?: string;
  /** Identifies the model together with its name, e.g. the server's address; equal texts mean the same model. */
  readonly fingerprint?: string;
  /** Absent for models that cost nothing. */
  readonly counts?: ModelCounts;
  /**
   * Sentences, one for each kind of data that the model does not provide and for each of its servers that refuses; to be
   * shown, not only logged.
   */
  readonly notes?: readonly string[];
  /**
   * Generates the next message.
   * @throws {Fault} `model/*` with the server, the model, its answer and the remedy; AbortError on cancel
   */
  generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    options?: GenerateOptions,
  ): Promise<Generation>;
  /** Ends the model's resources, such as a process; a later request starts them again. */
  close?(): Promise<void>;
}

/**
 * Maximum number of characters that a model may write for one message, thoughts included. Normal messages have a
 * hundredth of that; a model that repeats itself without end must not fill memory and log.
 */
export const MAX_REPLY_CHARS = 1_000_000;

/** The predicate of an error message, to follow the model's name. */
export const WROTE_TOO_LONG = `has written ${MAX_REPLY_CHARS.toLocaleString('en')} characters of one message and was stopped`;

export const TOO_LONG_REMEDY = 'Ask again, let a turn have fewer tokens, or choose another model';
