/** One message of a conversation with a model, as chat completion interfaces take it. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface SamplingSettings {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Only the most likely tokens that together have this probability; 1 or absent: all. Applies after temperature and top-k. */
  readonly topP?: number;
  /** Only so many of the most likely tokens; 0 or absent: all. */
  readonly topK?: number;
  /** Most tokens that one turn may have. */
  readonly maxTokens: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
}

/** This was asked of a server's own sampling, by the names of its API. */
export interface ServerSampling {
  /** Fields that were sent with the value that switches them off. */
  readonly neutral: readonly string[];
  /** Fields that it refused: where it has values of its own for them, these were in force. */
  readonly refused?: readonly string[];
}

/** The tokens of a generated turn exactly as they were sampled. */
export interface SampledTokens {
  /** Vocabulary ids, one per sampled token; llama.cpp leaves out the token that ended the turn. */
  readonly ids?: readonly number[];
  /**
   * Natural log-probability of each sampled token. Of a turn that the model ended, that of the token which ended it may
   * be missing: then there is one fewer than `ids`, or `ids` lack that token too, as llama.cpp gives them.
   */
  readonly logprobs?: readonly number[];
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What a model returned for one request. */
export interface Generation {
  readonly text: string;
  /** What a reasoning model thought before `text`, when the server gives it apart. Its tokens are among `tokens`. */
  readonly reasoning?: string;
  /** `length`: it ran into `maxTokens`. `other`: the caller had `enough`, or the server gives no reason or one of its own. */
  readonly finishReason: 'stop' | 'length' | 'other';
  readonly tokens?: SampledTokens;
  /** Vocabulary ids of the prompt, when the server tells. */
  readonly promptTokenIds?: readonly number[];
  /** Absent when the server does not count; of an answer that the caller stopped, many servers do not. */
  readonly usage?: Usage;
  /** Absent for models without sampling of their own, and at OpenAI's server. */
  readonly serverSampling?: ServerSampling;
  /** The model name that the server says it served, which may be more exact than the one asked for. */
  readonly servedModel?: string;
  readonly timing: {
    /**
     * Milliseconds from the call to the first text that was kept, repeated attempts and waits included; absent when
     * nothing was streamed.
     */
    readonly firstTextMs?: number;
    /** Milliseconds from the call to the end of the answer. */
    readonly totalMs: number;
    /** Requests made, 1 when none was repeated. */
    readonly attempts: number;
  };
}

export interface GenerateOptions {
  readonly signal?: AbortSignal;
  /** Called with each piece of text as it arrives. */
  readonly onText?: (piece: string) => void;
  /** An attempt failed and another follows: the text received so far is void, the answer begins anew. */
  readonly onRestart?: (why: string) => void;
  /**
   * Asked after each piece of text. When it says yes, the model is stopped and what it wrote so far is the answer, with
   * the finish reason `other`.
   */
  readonly enough?: () => boolean;
  /** Where in which dialogue this is asked; scripted models choose their canned turn by it. */
  readonly position?: { readonly description: string; readonly turn: number };
}

/** What a model has been asked for since it was opened. */
export interface ModelCounts {
  /** Requests sent, repeated ones included. */
  readonly requests: number;
  /** Requests repeated because the one before failed. */
  readonly retries: number;
  /** Tokens as the server counts them, or as they came one by one; answers that broke off are not in here. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Answers for which the server gave no token counts, so that the two sums are too low. */
  readonly answersWithoutUsage: number;
}

/** Anything that can write the next message of a conversation. */
export interface Model {
  /** As on the command line: `openai:gpt-4o@http://…`, `script:turns.json`. */
  readonly name: string;
  /** Whose terms bind what it writes, when that is to be kept with it: `editor` for models that the editor offers. */
  readonly terms?: string;
  /** What besides the name decides what it says, e.g. the server's address; equal texts mean the same model. */
  readonly fingerprint?: string;
  /** Absent for models that cost nothing. */
  readonly counts?: ModelCounts;
  /** One sentence for each thing that the model turned out not to give; to be shown, not only logged. */
  readonly notes?: readonly string[];
  /** @throws {Fault} `model/*` with the server, the model, what it answered and what to do; AbortError on cancel */
  generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    options?: GenerateOptions,
  ): Promise<Generation>;
  /** Ends what the model runs on, such as a process; it may be asked again, and then starts anew. */
  close?(): Promise<void>;
}
