import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { isErrorCode } from '../trajectory/files';
import { isRunning } from '../trajectory/running';

/** What the trainer writes of itself, `process.json`. */
export const processSchema = z.looseObject({
  pid: z.number().int().positive(),
  host: z.string(),
  /** ISO 8601, UTC. */
  started: z.string(),
});

/** What the launcher writes of it, `launch.json`, before the trainer has come so far. */
export const launchSchema = processSchema.extend({
  /** Tells two processes of one number apart: the kernel's ticks at its start; null where the system does not tell. */
  began: z.string().nullable(),
  command: z.array(z.string()).readonly(),
});

export type TrainerProcess = z.infer<typeof processSchema>;
export type Launch = z.infer<typeof launchSchema>;

/** True also for a process on another machine, which cannot be asked. */
export async function mayLive(trainer: TrainerProcess | Launch): Promise<boolean> {
  if (trainer.host !== hostname()) return true;
  const there = await look(trainer.pid);
  if (there === undefined) return false;
  if (there === 'cannot tell') return true;
  if ('began' in trainer && typeof trainer.began === 'string') return trainer.began === there.began;
  return there.commandLine.includes('tandem_trainer');
}

/** The ticks at which a process of this machine began; null when the system does not tell. */
export async function beginOf(pid: number): Promise<string | null> {
  const there = await look(pid);
  return typeof there === 'object' ? there.began : null;
}

interface Seen {
  readonly began: string;
  readonly commandLine: string;
}

/** Undefined when there is no such process, or only its exit status is left for a parent that does not ask for it. */
async function look(pid: number): Promise<Seen | 'cannot tell' | undefined> {
  if (!isRunning(pid)) return undefined;
  if (process.platform !== 'linux') return 'cannot tell';
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; after it come the state and, as the 20th field, the time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { began: fields[19]!, commandLine: await readFile(`/proc/${pid}/cmdline`, 'utf8') };
  } catch (error) {
    // It ended since, or the system hides the processes of other users.
    if (isErrorCode(error, 'ENOENT', 'ESRCH')) return isRunning(pid) ? 'cannot tell' : undefined;
    throw error;
  }
}
