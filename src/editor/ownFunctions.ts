import * as z from 'zod';
import { lazily } from '../core/lazily';
import type { OwnFunction } from '../../webview/session/protocol';
import type { Memory } from './consent';
import { recall } from './recall';

const MAX_FUNCTIONS = 50;

const KEY = 'tandem.ownFunctions';

export const ownFunctionSchema = lazily((): z.ZodType<OwnFunction> => z.object(functionShape()));

const functionShape = lazily(() => ({ file: z.string(), name: z.string(), near: z.number() }));

const playedSchema = lazily(() =>
  z.object({
    ...functionShape(),
    episode: z.string(),
    /** True once the change was shown; afterwards it is shown on request only. */
    isShown: z.boolean(),
    /** True while the file is again as it was before the answer was accepted. */
    isUndone: z.boolean().optional(),
  }),
);

/** The function of a dialogue, which is the place for its answer. */
export type PlayedFunction = z.infer<ReturnType<typeof playedSchema>>;

/** Remembers the functions of dialogues in the editor, not in the log, because they name files of this machine. */
export class OwnFunctions {
  constructor(private readonly memory: Memory) {}

  get all(): readonly PlayedFunction[] {
    return recall(this.memory, KEY, () => z.array(playedSchema())) ?? [];
  }

  of(episode: string): PlayedFunction | undefined {
    return this.all.find((one) => one.episode === episode);
  }

  async keep(played: PlayedFunction): Promise<void> {
    const others = this.all.filter(({ episode }) => episode !== played.episode);
    await this.memory.update(KEY, [...others, played].slice(-MAX_FUNCTIONS));
  }

  async forget(isKept: (episode: string) => boolean): Promise<void> {
    await this.memory.update(
      KEY,
      this.all.filter(({ episode }) => isKept(episode)),
    );
  }
}

export const proposalSchema = lazily(() =>
  z.object({
    file: z.string(),
    code: z.string(),
    /** The function that it replaces; if the file has none of this name, it is appended to the file. */
    name: z.string().optional(),
    near: z.number().optional(),
    /** The dialogue that ends with it; absent where nothing is logged. */
    episode: z.string().optional(),
  }),
);

export type Proposal = z.infer<ReturnType<typeof proposalSchema>>;
