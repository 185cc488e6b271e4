import { readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { ifThere } from '../trajectory/files';
import { EventTail, lastProgress } from './eventFile';
import type { ToldState, TrainerEvent } from './events';
import {
  killedSchema,
  launchSchema,
  mayLive,
  processSchema,
  queuedSchema,
  type Launch,
  type Queued,
  type TrainerProcess,
} from './process';
import { advance, isFinal, type Progress } from './progress';
import { BEING_PREPARED, isFull, lastLines, readWhole, runFiles, runsFolderOf } from './runFolder';
import { silentSince } from './silence';
import { selectionReportSchema, type SelectionReport } from './data/report';
import { pause } from './pause';

/**
 * `finishing`: somebody has asked for its policy as it is (`finish.ts`). `stopped`: by a request, after a checkpoint, or
 * at once, by whoever killed its trainer; also when it never began. `queued`: it waits for its turn (`queue.ts`).
 * `died`: the process is gone and did not say that it was done; `resumeRun` goes on from the last checkpoint. `lost`: it
 * ran on another machine, and was silent for long.
 */
export type RunState = ToldState | 'finishing' | 'queued' | 'died' | 'lost';

/** A run as its folder tells it. */
export interface Run {
  readonly id: string;
  readonly folder: string;
  /** As the configuration calls it; empty when it does not. */
  readonly name: string;
  readonly method: string;
  /** The base model: a folder, or a name on the hub. */
  readonly base: string;
  /** Of a name on the hub: the commit with which it began, and goes on. Absent until its trainer has looked it up. */
  readonly commit?: string;
  readonly state: RunState;
  /** Whether a trainer works on it, so that it can be stopped. */
  readonly isLive: boolean;
  /** Whether `resumeRun` can go on with it. */
  readonly canResume: boolean;
  readonly progress?: Progress;
  /** One sentence on why it failed, died or stopped, when there is one. */
  readonly message?: string;
  /** Of a run that failed or died: the end of what its trainer said. */
  readonly lastLines: readonly string[];
  /** Of one that is lost: since when nothing was heard of its trainer. ISO 8601, UTC. */
  readonly silentSince?: string;
  /** It died without a word, and its disk has no room for one now: that may be why. */
  readonly isDiskFull?: true;
  /** ISO 8601, UTC: when it was made, and when it was last heard of. */
  readonly startedAt: string;
  readonly changedAt: string;
  /** The latest trainer, which may be gone. */
  readonly process?: { readonly pid: number; readonly host: string };
  /** Of a run that waits for its turn. */
  readonly queued?: Queued;
  /** What of the log went into its data; absent when its data are files. */
  readonly selection?: SelectionReport;
}

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** How often the folder is looked at, in milliseconds. */
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 250;

const configurationSchema = lazily(() =>
  z.looseObject({
    name: z.string().catch(''),
    method: z.string().catch('sweet-rl'),
    model: z.looseObject({ base: z.string().catch('') }).catch({ base: '' }),
  }),
);

const begunSchema = lazily(() => z.looseObject({ commit: z.string().nullish() }));

/**
 * The runs of a data folder. Everything is read from their folders each time: an editor that reloads, another window
 * and a command line see the same, whoever started the run, and closing any of them changes nothing.
 */
export class Runs {
  /** Absolute, because the trainer does not work where this process does. */
  readonly dataFolder: string;
  readonly folder: string;

  constructor(dataFolder: string) {
    this.dataFolder = resolve(dataFolder);
    this.folder = runsFolderOf(this.dataFolder);
  }

  /** From the newest to the oldest. */
  async list(): Promise<Run[]> {
    const runs = await Promise.all((await this.ids()).map((id) => this.read(id)));
    return runs.filter((run) => run !== undefined);
  }

  /**
   * @param name an id, or a part of one that no other has
   * @throws {Fault} `training/unknown-run`
   */
  async find(name: string): Promise<Run> {
    const ids = await this.ids();
    const found = ids.includes(name) ? [name] : ids.filter((id) => name !== '' && id.includes(name));
    const run = found.length === 1 ? await this.read(found[0]!) : undefined;
    if (run !== undefined) return run;
    const message =
      found.length > 1
        ? `"${name}" may be any of ${found.join(', ')}; write more of it.`
        : `There is no run "${name}" in ${this.folder}; \`tandem runs\` lists those that are there.`;
    throw new Fault('training/unknown-run', message);
  }

  /** Undefined when there is no run of that id. */
  async read(id: string): Promise<Run | undefined> {
    const folder = join(this.folder, id);
    const made = await ifThere(() => stat(join(folder, runFiles.configuration)));
    if (made === undefined) return undefined;
    const configuration = await readWhole(join(folder, runFiles.configuration), configurationSchema());
    const begun = await readWhole(join(folder, runFiles.begun), begunSchema());
    const selection = await readWhole(join(folder, runFiles.selection), selectionReportSchema());
    const startedAt = made.mtime.toISOString();
    const { name = '', method = '', model } = configuration ?? {};
    return {
      ...{ id, folder, name, method, base: model?.base ?? '', startedAt, changedAt: startedAt },
      ...(begun?.commit != null && { commit: begun.commit }),
      ...(selection && { selection }),
      ...(await standing(id, folder)),
    };
  }

  /**
   * All events of the run from its first, then each as it is written, until the run is over or its process is gone;
   * `read` then says how it stands.
   * @throws the signal's reason when it is aborted; the run goes on
   */
  async *follow(id: string, options: FollowOptions = {}): AsyncGenerator<TrainerEvent> {
    const { signal, everyMs = LOOK_EVERY_MS } = options;
    const folder = join(this.folder, id);
    const tail = new EventTail(join(folder, runFiles.events));
    let progress: Progress | undefined;
    try {
      for (;;) {
        signal?.throwIfAborted();
        // Before the events: whatever the process wrote until it ended is then among them.
        const trainer = await trainerOf(folder);
        for await (const event of tail.read()) {
          progress = advance(progress, event);
          yield event;
          signal?.throwIfAborted();
        }
        if (!worksOn(trainer, progress)) return;
        await pause(everyMs, signal);
      }
    } finally {
      await tail.close();
    }
  }

  /** From the newest to the oldest. */
  async ids(): Promise<string[]> {
    const entries = (await ifThere(() => readdir(this.folder, { withFileTypes: true }))) ?? [];
    const ids = entries.flatMap((entry) =>
      entry.isDirectory() && !entry.name.endsWith(BEING_PREPARED) ? [entry.name] : [],
    );
    return ids.sort().reverse();
  }
}

interface LatestTrainer {
  readonly latest: TrainerProcess | Launch | undefined;
  readonly isLive: boolean;
  /** Of one on another machine that is silent for so long that it does not count as live. ISO 8601, UTC. */
  readonly silent?: string;
}

/** The trainer that was started last, and whether it lives: one on another machine as long as it is heard of. */
export async function trainerOf(folder: string): Promise<LatestTrainer> {
  const launch = await readWhole(join(folder, runFiles.launch), launchSchema());
  const own = await readWhole(join(folder, runFiles.process), processSchema());
  // The launcher knows more of the same process; another one was started by hand, without a launcher.
  const isSame = own !== undefined && launch?.pid === own.pid && launch.host === own.host;
  const latest = launch && (own === undefined || isSame || launch.started > own.started) ? launch : own;
  if (latest === undefined) return { latest, isLive: false };
  if (latest.host === hostname()) return { latest, isLive: await mayLive(latest) };
  const silent = await silentSince(folder);
  return silent === undefined ? { latest, isLive: true } : { latest, isLive: false, silent };
}

/** What a trainer on another machine said last is all there is to go by. */
function worksOn({ latest, isLive }: LatestTrainer, told: Progress | undefined): boolean {
  const isElsewhere = latest !== undefined && latest.host !== hostname();
  return isLive && !(isElsewhere && isFinal(saidBy(latest, told) ?? ''));
}

/** What a predecessor said says nothing of the trainer that was started after it. */
function saidBy(
  latest: TrainerProcess | Launch | undefined,
  told: Progress | undefined,
): ToldState | undefined {
  return told === undefined || (latest !== undefined && latest.started > told.at) ? undefined : told.state;
}

type Standing = Pick<Run, 'state' | 'isLive' | 'canResume' | 'lastLines'> &
  Partial<Pick<Run, 'progress' | 'message' | 'process' | 'queued' | 'changedAt' | 'silentSince'>>;

async function standing(id: string, folder: string): Promise<Standing> {
  const trainer = await trainerOf(folder);
  const told = await lastProgress(join(folder, runFiles.events));
  const { latest, silent } = trainer;
  const isLive = worksOn(trainer, told);
  const asked = isLive ? await askedTo(folder) : undefined;
  const queued = isLive ? undefined : await queuedSince(folder, latest);
  const isNew = latest === undefined && told === undefined;
  const gone = silent === undefined ? 'died' : 'lost';
  const resting = isNew || (await wasKilled(folder, latest)) ? 'stopped' : gone;
  const state = queued === undefined ? stateOf(saidBy(latest, told), isLive, asked, resting) : 'queued';
  const lines = state === 'failed' || state === 'died' ? await lastLines(folder) : [];
  const isDiskFull = state === 'died' && lines.length === 0 && (await isFull(folder)) === true;
  const message =
    explanation(id, state, trainer, isDiskFull) ?? (state === told?.state ? told.message : undefined);
  const changedAt = queued?.at ?? told?.at ?? latest?.started;
  return {
    state,
    isLive,
    canResume: !isLive && state !== 'done',
    lastLines: lines,
    ...(isDiskFull && { isDiskFull }),
    ...(state === 'lost' && silent !== undefined && { silentSince: silent }),
    ...(told && { progress: told }),
    ...(message !== undefined && { message }),
    ...(latest && { process: { pid: latest.pid, host: latest.host } }),
    ...(queued && { queued }),
    ...(changedAt !== undefined && { changedAt }),
  };
}

/** What its trainer was asked for, and has not done yet. */
async function askedTo(folder: string): Promise<'stopping' | 'finishing' | undefined> {
  const isThere = async (file: string): Promise<boolean> =>
    (await ifThere(() => stat(join(folder, file)))) !== undefined;
  if (await isThere(runFiles.stop)) return 'stopping';
  return (await isThere(runFiles.finish)) ? 'finishing' : undefined;
}

/** Undefined also when it was launched since then, by somebody who could not take it out any more. */
async function queuedSince(
  folder: string,
  latest: TrainerProcess | Launch | undefined,
): Promise<Queued | undefined> {
  const queued = await readWhole(join(folder, runFiles.queued), queuedSchema());
  return queued !== undefined && latest !== undefined && latest.started >= queued.at ? undefined : queued;
}

/** By somebody who said so. */
async function wasKilled(folder: string, latest: TrainerProcess | Launch | undefined): Promise<boolean> {
  const killed = await readWhole(join(folder, runFiles.killed), killedSchema());
  return killed !== undefined && latest !== undefined && killed.at > latest.started;
}

/** @param resting what it is when nobody works on it and nobody has said why */
function stateOf(
  said: ToldState | undefined,
  isLive: boolean,
  asked: 'stopping' | 'finishing' | undefined,
  resting: 'stopped' | 'died' | 'lost',
): RunState {
  if (!isLive) return said !== undefined && isFinal(said) ? said : resting;
  if (said !== undefined && isFinal(said)) return said; // it is about to end
  return asked ?? said ?? 'preparing';
}

function explanation(
  id: string,
  state: RunState,
  { latest, silent }: LatestTrainer,
  isDiskFull: boolean,
): string | undefined {
  const goesOn = `\`tandem resume ${id}\` goes on with it.`;
  if (state === 'queued') {
    return `It waits for its turn, which an open window of the editor gives it. \`tandem resume ${id}\` starts it now.`;
  }
  if (state === 'stopped' && latest === undefined) return `It was prepared and never started. ${goesOn}`;
  if (state === 'lost' && latest !== undefined) {
    return (
      `It ran on ${latest.host}, and nothing was heard of it since ${silent}. When it is not at work there any more, ` +
      `\`tandem resume ${id} --take-over\` goes on with it here.`
    );
  }
  if (state !== 'died') return undefined;
  const who = latest === undefined ? '' : ` (process ${latest.pid})`;
  if (isDiskFull) {
    return (
      `Its trainer${who} ended without saying so. The disk is full, which may be why: make room, then ` +
      `\`tandem resume ${id}\` goes on with it.`
    );
  }
  return (
    `Its trainer${who} ended without saying so: the end of its log may tell why; otherwise it was ` +
    `killed, perhaps because memory ran out, or the machine was restarted. ${goesOn}`
  );
}
