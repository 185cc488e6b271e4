import * as z from 'zod';
import { lazily } from '../lazily';

/** The content of `process.json`, which the trainer writes about itself. */
export const processSchema = lazily(() =>
  z.looseObject({
    pid: z.number().int().positive(),
    host: z.string(),
    /** ISO 8601, UTC. */
    started: z.string(),
    /** The torchrun that has started the trainer and starts it again when it has died; absent without one. */
    launcher: z.number().int().positive().optional(),
  }),
);

/** The content of `launch.json`, which the launcher writes before the trainer can write `process.json`. */
export const launchSchema = lazily(() =>
  processSchema().extend({
    /** Kernel ticks at the start of the process, because a pid may be reused; null where the system does not tell. */
    began: z.string().nullable(),
    command: z.array(z.string()).readonly(),
    /** Number of trainers that torchrun has started, each in a process group of its own; absent without torchrun. */
    processes: z.number().int().optional(),
    /** Whether the process follows the job of a Ray cluster, whose workers then write `process.json`. */
    isOnCluster: z.boolean().optional(),
  }),
);

/** The content of `killed.json`: when somebody killed the trainer. ISO 8601, UTC. */
export const killedSchema = lazily(() => z.looseObject({ at: z.string() }));

/** The content of `queued.json`: since when the run has waited for its turn, and which machine is to train it. */
export const queuedSchema = lazily(() =>
  z.looseObject({
    /** ISO 8601, UTC. */
    at: z.string(),
    host: z.string(),
  }),
);

export type Queued = z.infer<ReturnType<typeof queuedSchema>>;
export type TrainerProcess = z.infer<ReturnType<typeof processSchema>>;
export type Launch = z.infer<ReturnType<typeof launchSchema>>;
