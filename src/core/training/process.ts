import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { lazily } from '../lazily';
import { ifThere } from '../trajectory/files';
import { mayLive, SILENT_MS } from '../trajectory/heartbeat';
import { readWhole, runFiles } from './runFolder';

/** `process.json`, which the trainer writes about itself. */
const processSchema = lazily(() =>
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
const launchSchema = lazily(() =>
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

export interface LatestTrainer {
  readonly latest: TrainerProcess | Launch | undefined;
  /** The process that was launched last here; of a run on a cluster it is not the trainer. */
  readonly launch?: Launch;
  readonly isLive: boolean;
  /** Last sign of life of a trainer on another machine that counts as gone. ISO 8601, UTC. */
  readonly silent?: string;
}

/** A trainer on another machine lives as long as it is not silent. */
export async function trainerOf(folder: string): Promise<LatestTrainer> {
  const launch = await readWhole(join(folder, runFiles.launch), launchSchema());
  const own = await readWhole(join(folder, runFiles.process), processSchema());
  // For the same process, the launcher's record holds more; another pid was started by hand, without a launcher.
  const isSame = own !== undefined && launch?.pid === own.pid && launch.host === own.host;
  if (launch !== undefined && (await leads(launch))) return { latest: launch, launch, isLive: true };
  const latest = launch && (own === undefined || isSame || launch.started > own.started) ? launch : own;
  if (latest === undefined) return { latest, isLive: false };
  if (latest.host === hostname()) return { latest, launch, isLive: await mayLive(latest, 'tandem_trainer') };
  const silent = await silentSince(folder);
  return silent === undefined ? { latest, launch, isLive: true } : { latest, launch, isLive: false, silent };
}

/** True if a living launcher starts its trainers again when one has died, so that it represents them. */
async function leads(launch: Launch): Promise<boolean> {
  const isLeader = launch.processes !== undefined && launch.host === hostname();
  return isLeader && (await mayLive(launch, 'tandem_trainer'));
}

/** Only a running trainer or its launcher writes these. */
const SIGNS = [runFiles.alive, runFiles.events, runFiles.process, runFiles.launch];

/** Time of the trainer's last sign of life, in ISO 8601; undefined unless it is silent for too long. */
export async function silentSince(folder: string, now = Date.now()): Promise<string | undefined> {
  const signs = await Promise.all(SIGNS.map((name) => ifThere(() => stat(join(folder, name)))));
  const heard = Math.max(0, ...signs.map((sign) => sign?.mtimeMs ?? 0));
  return now - heard > SILENT_MS ? new Date(heard).toISOString() : undefined;
}
