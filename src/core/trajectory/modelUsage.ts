import { join } from 'node:path';
import * as z from 'zod';
import type { EventKind } from './event';
import { isUnfit, MB, readText } from '../regularFile';
import { ifThere, writeAtomically } from './files';
import { segmentNames } from './segment/files';
import { nothingRead, readOn, whyChanged, type ReadBytes } from './segment/reader';
import { peek, sealOf } from './segment/line';
import { jsonOrUndefined } from '../json';

const useSchema = z.object({
  /** Messages as the agent; both of two candidates count. */
  turns: z.number(),
  /** Messages as the simulator. */
  replies: z.number(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  /** Messages without a token count from the model; with them, both sums are too low. */
  uncounted: z.number(),
});

/** Superseded, abandoned and deleted turns count; imported ones do not. */
export type ModelUse = z.infer<typeof useSchema>;

/** Uses keyed by the model's name as requested. */
export type UseByModel = Readonly<Record<string, ModelUse>>;

const keptSchema = z.object({
  version: z.literal(4),
  segments: z.record(
    z.string(),
    z.object({
      ...{ scanned: z.number(), tail: z.number(), sum: z.number() },
      ...{ fingerprint: z.number().optional(), changedAt: z.number().optional() },
      uses: z.array(z.tuple([z.string(), useSchema])).transform((uses) => new Map(uses)),
    }),
  ),
});

/** The bytes read of a segment, and each model's use in them. */
type Segment = ReadBytes & { readonly uses: Uses };

/** A model may be called `__proto__`. */
type Uses = Map<string, ModelUse>;

/** If the saved sums lag by fewer bytes, they are not saved: those are quickly read again. */
const SAVE_AFTER_BYTES = 1024 * 1024;

/** Bytes read at once. A piece takes less than a millisecond, so that other work can run before the next one. */
const PIECE_BYTES = 64 * 1024;

/**
 * Each line of an agent's message or a simulator's reply is read once: the sums of each segment are kept in
 * `index/use.json`, and later calls read only appended lines. A segment that was edited is counted again.
 */
export class KeptUse {
  private segments: Record<string, Segment> | undefined;
  private unsavedBytes = 0;
  /** Episodes with a chosen candidate as their next turn, which has been counted already. */
  private readonly chosen = new Set<string>();
  private queue: Promise<unknown> = Promise.resolve();

  /** @param agentOf returns the agent of an episode; older logs name only the model, as the server called it */
  constructor(
    private readonly folder: string,
    private readonly agentOf: (episode: string) => string | undefined,
  ) {}

  /** @throws {Fault} `trajectory/unreadable` */
  read(): Promise<UseByModel> {
    const reading = this.queue.then(() => this.catchUp());
    this.queue = reading.catch(() => undefined); // the caller gets its error
    return reading;
  }

  private async catchUp(): Promise<UseByModel> {
    // The log may have been edited while no process was watching it.
    const isFirst = this.segments === undefined;
    const known = (this.segments ??= await this.saved());
    const logFolder = join(this.folder, 'log');
    const now: Record<string, Segment> = {};
    for (const name of await segmentNames(logFolder)) {
      now[name] = await this.segment(join(logFolder, name), known[name], isFirst);
    }
    this.segments = now;
    if (this.unsavedBytes > SAVE_AFTER_BYTES) await this.save();
    return sumOf(Object.values(now).map(({ uses }) => uses));
  }

  private async segment(file: string, known: Segment | undefined, thoroughly: boolean): Promise<Segment> {
    const kept = structuredClone(known);
    const fits = kept !== undefined && (await whyChanged(file, kept, thoroughly)) === undefined;
    const segment: Segment = fits ? kept : { ...nothingRead(), uses: new Map() };
    // A segment that was verified here need not be verified again by the next process that opens the log.
    if (fits && kept.changedAt !== known?.changedAt) this.unsavedBytes += SAVE_AFTER_BYTES;
    const add = (line: Buffer): void => this.addLine(segment.uses, line);
    this.unsavedBytes += await readOn(file, segment, add, { readBytes: PIECE_BYTES });
    return segment;
  }

  private addLine(uses: Uses, line: Buffer): void {
    const kind = peek(line)?.kind;
    if (kind === undefined || !COUNTED.includes(kind) || sealOf(line) === 'broken') return;
    const message = messageSchema.safeParse(jsonOrUndefined(line.toString())).data;
    if (message === undefined || 'imported' in message) return;
    if (message.event === 'candidates') {
      // Both count before the choice: a count that grew with the choice would reveal the author of the chosen one.
      for (const { agent, usage } of message.candidates) add(uses, agent, 'turns', usage);
    } else if (message.event === 'choice') {
      if (message.picked !== 'neither') this.chosen.add(message.episode);
    } else if (message.event === 'reply' || !this.chosen.delete(message.episode)) {
      const model = this.modelOf(message);
      if (model === undefined) return;
      add(uses, model, message.event === 'reply' ? 'replies' : 'turns', message.usage);
    }
  }

  private modelOf(message: Extract<Message, { event: 'agent-turn' | 'reply' }>): string | undefined {
    if (message.event === 'reply')
      return message.author === 'simulator' && message.by !== 'rules' ? message.by : undefined;
    const { model, agent, episode } = message;
    if (agent !== undefined || MODEL_NAME.test(model)) return agent ?? model;
    return this.agentOf(episode) ?? model;
  }

  private get file(): string {
    return join(this.folder, 'index', 'use.json');
  }

  /** If the saved sums are unreadable, everything is counted again. */
  private async saved(): Promise<Record<string, Segment>> {
    const text = await ifThere(() => readText(this.file, 256 * MB)).catch((error: unknown) => {
      if (isUnfit(error)) return undefined;
      throw error;
    });
    return keptSchema.safeParse(jsonOrUndefined(text ?? '')).data?.segments ?? {};
  }

  private async save(): Promise<void> {
    const kept = { version: 4, segments: this.segments };
    const text = JSON.stringify(kept, (_, value: unknown) => (value instanceof Map ? [...value] : value));
    await writeAtomically(this.file, text);
    this.unsavedBytes = 0;
  }
}

/** Matches a model's name as written in the settings and on the command line. */
const MODEL_NAME = /^(starter(-pages|-questions)?$|local:|openai:|script:|vscode:)/;

const COUNTED: readonly EventKind[] = ['agent-turn', 'candidates', 'choice', 'reply'];

const usage = z.object({ promptTokens: z.number(), completionTokens: z.number() }).optional();

const messageSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('agent-turn'),
    episode: z.string(),
    model: z.string(),
    agent: z.string().optional(),
    usage,
    imported: z.unknown().optional(),
  }),
  z.object({
    event: z.literal('candidates'),
    candidates: z.array(z.object({ agent: z.string(), usage })),
  }),
  z.object({
    event: z.literal('choice'),
    episode: z.string(),
    picked: z.literal([0, 1, 'equal', 'neither']),
  }),
  z.object({
    event: z.literal('reply'),
    author: z.string(),
    by: z.string(),
    usage,
  }),
]);

type Message = z.infer<typeof messageSchema>;

function add(uses: Uses, model: string, what: 'turns' | 'replies', tokens: z.infer<typeof usage>): void {
  const use = useOf(uses, model);
  use[what] += 1;
  use.promptTokens += tokens?.promptTokens ?? 0;
  use.completionTokens += tokens?.completionTokens ?? 0;
  if (tokens === undefined) use.uncounted += 1;
}

function noUse(): ModelUse {
  return { turns: 0, replies: 0, promptTokens: 0, completionTokens: 0, uncounted: 0 };
}

function useOf(uses: Uses, model: string): ModelUse {
  const use = uses.get(model) ?? noUse();
  uses.set(model, use);
  return use;
}

function sumOf(parts: readonly Uses[]): UseByModel {
  const sum: Uses = new Map();
  for (const [model, use] of parts.flatMap((part) => [...part])) {
    const whole = useOf(sum, model);
    for (const field of Object.keys(use) as (keyof ModelUse)[]) whole[field] += use[field];
  }
  return Object.fromEntries(sum);
}

/** US dollars per million tokens. */
export interface Price {
  readonly prompt: number;
  readonly completion: number;
}

/** In US dollars; tokens that no server counted are missing from it. */
export function costOf({ promptTokens, completionTokens }: ModelUse, price: Price): number {
  return (promptTokens * price.prompt + completionTokens * price.completion) / 1e6;
}
