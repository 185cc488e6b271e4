import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import * as z from 'zod';
import { lazily } from '../lazily';
import { isErrorCode } from '../trajectory/files';
import { look } from '../trajectory/running';

/** What the trainer writes of itself, `process.json`. */
export const processSchema = lazily(() =>
  z.looseObject({
    pid: z.number().int().positive(),
    host: z.string(),
    /** ISO 8601, UTC. */
    started: z.string(),
  }),
);

/** What the launcher writes of it, `launch.json`, before the trainer has come so far. */
export const launchSchema = lazily(() =>
  processSchema().extend({
    /** Tells two processes of one number apart: the kernel's ticks at its start; null where the system does not tell. */
    began: z.string().nullable(),
    command: z.array(z.string()).readonly(),
    /** Of torchrun: how many trainers it has started, each with a group of its own. */
    processes: z.number().int().optional(),
  }),
);

/** What `killed.json` says: when somebody killed its trainer. ISO 8601, UTC. */
export const killedSchema = lazily(() => z.looseObject({ at: z.string() }));

/** What `queued.json` says: since when it waits for its turn, and on which machine it is to train. */
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

/** True also for a process on another machine, which cannot be asked. */
export async function mayLive(trainer: TrainerProcess | Launch): Promise<boolean> {
  if (trainer.host !== hostname()) return true;
  const seen = await look(trainer.pid);
  if (seen === 'gone') return false;
  if (seen === 'cannot tell') return true;
  if ('began' in trainer && typeof trainer.began === 'string') return trainer.began === seen.began;
  return (await commandLineOf(trainer.pid)).includes('tandem_trainer');
}

/** Empty when the process has ended since. */
async function commandLineOf(pid: number): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (isErrorCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
