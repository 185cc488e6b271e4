import type { SamplingSettings } from '../samplingSettings';

export type { SamplingSettings };

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export type ContentPart =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'picture'; readonly png: Buffer };

/** Text and pictures in their order. */
export interface PictureMessage {
  readonly role: 'user';
  readonly content: readonly ContentPart[];
}

export interface ServerSampling {
  /** Sent with a value that disables them. */
  readonly neutral: readonly string[];
  /** Fields that it refused; if it has its own values for them, those were in force. */
  readonly refused?: readonly string[];
}

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

export interface Generation {
  readonly text: string;
  /** Thoughts of a reasoning model before `text`, if the server separates them. Their tokens are among `tokens`. */
  readonly reasoning?: string;
  /** `length`: it reached `maxTokens`. `other`: the caller had `enough`, or the server gave no reason. */
  readonly finishReason: 'stop' | 'length' | 'other';
  readonly tokens?: SampledTokens;
  /** Vocabulary ids of the prompt, if the server returns them. */
  readonly promptTokenIds?: readonly number[];
  /** Absent if the server does not count; many servers do not for an answer that the caller stopped. */
  readonly usage?: Usage;
  /** The hidden information decided what was asked: see `Model.seesHidden`. */
  readonly sawHidden?: true;
  /** Only from an agent made of models. */
  readonly selection?: Selection;
  /** Absent for models without a server, and for OpenAI's. */
  readonly serverSampling?: ServerSampling;
  /** As reported by the server; may be more exact than the requested name. */
  readonly servedModel?: string;
  readonly timing: {
    /**
     * Milliseconds to the first text of the final attempt, earlier attempts and waits included; absent without
     * streaming.
     */
    readonly firstTextMs?: number;
    readonly totalMs: number;
    readonly attempts: number;
  };
}

/** A message was chosen among candidates, or written because of them: it is no plain sample of the model that wrote it. */
export interface Selection {
  /** Index of the chosen candidate; absent if none is said. */
  readonly place?: number;
  /** In the order of sampling. */
  readonly candidates: readonly {
    readonly model: string;
    /** By a critic, in nats; null for a candidate without tokens. */
    readonly score?: number | null;
    /** Of a draft. */
    readonly text?: string;
  }[];
  readonly verifier?: VerifierOutput;
}

/** A verifier words the question between drafts, or chooses one of them. */
export interface VerifierOutput {
  readonly model: string;
  /** What it was asked about: the call on which the drafts differ, and their results. */
  readonly asked: string;
  readonly text: string;
}

/** An attempt that follows a failed one. */
export interface Attempt {
  /** From 2. */
  readonly number: number;
  readonly of: number;
  /** Code of the failure (core/fault.ts). */
  readonly after: string;
}

export interface GenerateOptions {
  readonly signal?: AbortSignal;
  readonly onText?: (piece: string) => void;
  /**
   * An attempt failed and another follows: the text received so far is void, and the answer starts over.
   * @param attempt absent for a model on this machine
   */
  readonly onRestart?: (why: string, attempt?: Attempt) => void;
  /**
   * Asked after each piece of text or thoughts. True stops the model; the text so far is the answer, with the finish reason
   * `other`.
   */
  readonly enough?: () => boolean;
  /** The message begins with one of these, as its text says; only for a model that `forcesOpening`. */
  readonly openings?: readonly string[];
  /** Position in the dialogue; scripted models choose their canned turn by it. */
  readonly position?: {
    readonly description: string;
    readonly turn: number;
    /** Of the agent, after this one; absent where the message counts as an answer. */
    readonly turnsLeft?: number;
  };
  /** Only for models that set `seesHidden`. */
  readonly hidden?: HiddenInformation;
  /** Only for an agent that compares drafts: it compares these, and samples none. */
  readonly drafts?: Selection['candidates'];
}

/** What the collaborator knows of a task and an agent must ask for. */
export interface HiddenInformation {
  readonly text: string;
  readonly kind: 'program' | 'page';
}

/** Since the model was opened. */
export interface ModelCounts {
  /** Repeated requests included. */
  readonly requests: number;
  readonly retries: number;
  /** Tokens counted by the server, or as they arrived one by one; answers that broke off are not included. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Answers without token counts from the server; with them, the two sums are too low. */
  readonly answersWithoutUsage: number;
}

export const NO_COUNTS: ModelCounts = {
  requests: 0,
  retries: 0,
  promptTokens: 0,
  completionTokens: 0,
  answersWithoutUsage: 0,
};

export function sumOfCounts(all: readonly ModelCounts[]): ModelCounts {
  const sum = { ...NO_COUNTS };
  for (const counts of all)
    for (const name of Object.keys(sum) as (keyof ModelCounts)[]) sum[name] += counts[name];
  return sum;
}

/** Undefined if one of them was not counted. */
export function sumOfUsage(all: readonly Pick<Generation, 'usage'>[]): Usage | undefined {
  const known = all.flatMap(({ usage }) => usage ?? []);
  if (known.length < all.length) return undefined;
  const sum = (count: keyof Usage): number => known.reduce((total, usage) => total + usage[count], 0);
  return { promptTokens: sum('promptTokens'), completionTokens: sum('completionTokens') };
}

export interface Model {
  /** As on the command line: `openai:gpt-4o@http://…`, `script:turns.json`. */
  readonly name: string;
  /** Owner of the terms that bind its text, if that must be recorded: `editor` for models that the editor offers. */
  readonly terms?: string;
  /** Identifies the model together with its name, e.g. the server's address; equal texts mean the same model. */
  readonly fingerprint?: string;
  /** The model plays a teacher, which reads the task's hidden information. */
  readonly seesHidden?: true;
  /** Absent for models that cost nothing. */
  readonly counts?: ModelCounts;
  /**
   * One sentence for each kind of data that the model does not provide, and for each of its servers that refuses; to
   * be shown, not only logged.
   */
  readonly notes?: readonly string[];
  /** Whether `openings` can be forced on it; absent where that is never so. @throws {Fault} as `generate` */
  forcesOpening?(signal?: AbortSignal): Promise<boolean>;
  /** @throws {Fault} `model/*` with the server, the model, its answer and the remedy; AbortError on cancel */
  generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    options?: GenerateOptions,
  ): Promise<Generation>;
  /** A later request starts the resources again. */
  close?(): Promise<void>;
}

/** A model on a server, which may see pictures. */
export interface SeeingModel extends Model {
  /**
   * Whether it sees pictures, as its server says or shows. Once asked, it is known as long as this process runs.
   * @throws {Fault} as `generate`
   */
  sees(signal?: AbortSignal): Promise<boolean>;
  generate(
    messages: readonly (ChatMessage | PictureMessage)[],
    sampling: SamplingSettings,
    options?: GenerateOptions,
  ): Promise<Generation>;
}

export const maySee = (model: Model): model is SeeingModel => 'sees' in model;

/**
 * Thoughts included. Normal messages have a hundredth of that; a model that repeats itself without end must not fill
 * memory and log.
 */
export const MAX_REPLY_CHARS = 1_000_000;

/** The predicate of an error message, to follow the model's name. */
export const WROTE_TOO_LONG = `has written ${MAX_REPLY_CHARS.toLocaleString('en')} characters of one message and was stopped`;

export const TOO_LONG_REMEDY = 'Try again, let a turn have fewer tokens, or choose another model';
