import * as z from 'zod';
import { lazily } from '../lazily';

/** `process.json`, which the trainer writes about itself. */
export const processSchema = lazily(() =>
  z.looseObject({
    pid: z.number().int().positive(),
    host: z.string(),
    /** ISO 8601, UTC. */
    started: z.string(),
    /** The torchrun that starts the trainer again when it has died; absent without one. */
    launcher: z.number().int().positive().optional(),
  }),
);

/** `launch.json`, which the launcher writes before the trainer can write `process.json`. */
export const launchSchema = lazily(() =>
  processSchema().extend({
    /**
     * Kernel ticks at the start of the process, because a pid may be reused; null where the system does not report it.
     */
    began: z.string().nullable(),
    command: z.array(z.string()).readonly(),
    /** Trainers that torchrun has started, each in a process group of its own; absent without torchrun. */
    processes: z.number().int().optional(),
    /** True if the process follows the job of a Ray cluster; the workers then write `process.json`. */
    isOnCluster: z.boolean().optional(),
  }),
);

/** `killed.json`. ISO 8601, UTC. */
export const killedSchema = lazily(() => z.looseObject({ at: z.string() }));

/** `queued.json`: start of the wait, and the machine that is to train the run. */
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
