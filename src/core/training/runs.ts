import { readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { isUnfit } from '../regularFile';
import { ifThere, isThere } from '../trajectory/files';
import { EventTail, lastProgress } from './eventFile';
import type { ReportedState, TrainerEvent } from './events';
import {
  killedSchema,
  queuedSchema,
  trainerOf,
  type LatestTrainer,
  type Launch,
  type Queued,
  type TrainerProcess,
} from './process';
import { advance, isFinal, type Progress } from './progress';
import { DEFAULT_METHOD } from './methods';
import { BEING_PREPARED, isFull, lastLines, readWhole, runFiles, runsFolderOf } from './runFolder';
import { readNotes } from './runNotes';
import { selectionReportSchema, type SelectionReport } from './data/report';
import { pause } from './pause';

/**
 * `queued`: it waits for its turn (`queue.ts`). `running`: also while it prepares, or ends on request. `stopped`: after
 * a checkpoint, killed by a user, or never started. `failed`: also if its process is gone without a report. `lost`: it
 * ran on another machine, which has been silent for too long.
 */
export type RunState = 'queued' | 'running' | 'stopped' | 'done' | 'failed' | 'lost';

export interface Run {
  readonly id: string;
  readonly folder: string;
  /** Taken from the notes, else from the configuration; empty when it has none. */
  readonly name: string;
  readonly tags?: readonly string[];
  readonly note?: string;
  readonly method: string;
  /** Absent when the run trains an agent, or the model of one that runs its drafts. */
  readonly role?: 'collaborator' | 'verifier' | 'refiner';
  /** A folder, or a name on the hub. */
  readonly base: string;
  /** Commit of a base on the hub; a resume uses it, too. Absent until the trainer has looked it up. */
  readonly commit?: string;
  readonly state: RunState;
  /** Asked of a running trainer, which has not ended yet: to stop, or to end its policy early (`lifecycle.ts`). */
  readonly request?: 'stop' | 'finish';
  readonly isLive: boolean;
  readonly canResume: boolean;
  readonly progress?: Progress;
  readonly message?: string;
  /** End of the trainer's output when the run failed, otherwise empty. */
  readonly lastLines: readonly string[];
  /** Last sign of life of the trainer, only for a lost run. ISO 8601, UTC. */
  readonly silentSince?: string;
  /** Set if the trainer of a failed run ended without a report; `disk-full`: without output, and its disk is full now. */
  readonly death?: 'disk-full' | 'unknown';
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly changedAt: string;
  /** May have ended. */
  readonly process?: { readonly pid: number; readonly host: string };
  readonly queued?: Queued;
  /** Absent when the data are files. */
  readonly selection?: SelectionReport;
}

const POLL_INTERVAL_MS = 250;

const configurationSchema = lazily(() =>
  z.looseObject({
    name: z.string().catch(''),
    method: z.string().catch(DEFAULT_METHOD),
    role: z.enum(['collaborator', 'verifier', 'refiner']).optional().catch(undefined),
    model: z.looseObject({ base: z.string().catch('') }).catch({ base: '' }),
  }),
);

const begunSchema = lazily(() => z.looseObject({ commit: z.string().nullish() }));

/**
 * The folders are read at every call, so that a reloaded editor, another window and the command line all see the same
 * state; closing any of them changes nothing.
 */
export class Runs {
  /** Absolute, because the trainer has another working directory. */
  readonly dataFolder: string;
  readonly folder: string;

  constructor(dataFolder: string) {
    this.dataFolder = resolve(dataFolder);
    this.folder = runsFolderOf(this.dataFolder);
  }

  /** The newest first. */
  async list(): Promise<Run[]> {
    const runs = await Promise.all((await this.ids()).map((id) => this.read(id)));
    return runs.filter((run) => run !== undefined);
  }

  /** By the name in the configuration, which stays when a run is renamed. The newest first. */
  async configuredAs(name: string): Promise<Run[]> {
    const readable = (await this.list()).filter(({ method }) => method !== '');
    const configurations = await Promise.all(
      readable.map(({ folder }) => readWhole(join(folder, runFiles.configuration), configurationSchema())),
    );
    return readable.filter((_, index) => configurations[index]?.name === name);
  }

  /**
   * @param name an id, or a part that only one id contains
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

  async read(id: string): Promise<Run | undefined> {
    const folder = join(this.folder, id);
    const made = await ifThere(() => stat(join(folder, runFiles.configuration)));
    if (made === undefined) return undefined;
    const startedAt = made.mtime.toISOString();
    try {
      return await this.readAll(id, folder, startedAt);
    } catch (error) {
      // One folder with a pipe in it must not hide the other runs.
      if (isUnfit(error)) return unreadable(id, folder, startedAt, error);
      throw error;
    }
  }

  private async readAll(id: string, folder: string, startedAt: string): Promise<Run> {
    const configuration = await readWhole(join(folder, runFiles.configuration), configurationSchema());
    const begun = await readWhole(join(folder, runFiles.begun), begunSchema());
    const notes = await readNotes(folder);
    const selection = await readWhole(join(folder, runFiles.selection), selectionReportSchema());
    const { name = '', method = '', role, model } = configuration ?? {};
    return {
      ...{ id, folder, name: notes.name === '' ? name : notes.name, method, role, base: model?.base ?? '' },
      ...{ selection, startedAt, changedAt: startedAt },
      tags: notes.tags.length > 0 ? notes.tags : undefined,
      note: notes.note === '' ? undefined : notes.note,
      commit: begun?.commit ?? undefined,
      ...(await statusOf(id, folder)),
    };
  }

  /**
   * Yields all events from the first, then each new one, until the run is over or its process is gone; `read` then
   * returns its state.
   * @throws the signal's reason when it is aborted; the run continues
   */
  async *follow(
    id: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<TrainerEvent> {
    const folder = join(this.folder, id);
    const tail = new EventTail(join(folder, runFiles.events));
    let progress: Progress | undefined;
    try {
      for (;;) {
        signal?.throwIfAborted();
        // Read before the events, so that they include all that the process wrote before it ended.
        const trainer = await trainerOf(folder);
        for await (const event of tail.read()) {
          progress = advance(progress, event);
          yield event;
          signal?.throwIfAborted();
        }
        if (!worksOn(trainer, progress)) return;
        await pause(POLL_INTERVAL_MS, signal);
      }
    } finally {
      await tail.close();
    }
  }

  /** The newest first. */
  async ids(): Promise<string[]> {
    const entries = (await ifThere(() => readdir(this.folder, { withFileTypes: true }))) ?? [];
    const ids = entries.flatMap((entry) =>
      entry.isDirectory() && !entry.name.endsWith(BEING_PREPARED) ? [entry.name] : [],
    );
    return ids.sort().reverse();
  }
}

/** The runs of the data folder that holds a run. */
export const runsOf = ({ folder }: Pick<Run, 'folder'>): Runs => new Runs(dirname(dirname(folder)));

/** A run with a file that is none. */
const unreadable = (id: string, folder: string, startedAt: string, { message }: Fault): Run => ({
  ...{ id, folder, name: '', method: '', base: '' },
  ...{ state: 'failed', isLive: false, canResume: false, lastLines: [], message },
  ...{ startedAt, changedAt: startedAt },
});

/** A trainer on another machine counts as ended once it has reported an end. */
function worksOn({ latest, isLive }: LatestTrainer, told: Progress | undefined): boolean {
  const isElsewhere = latest !== undefined && latest.host !== hostname();
  const said = saidBy(latest, told);
  return isLive && !(isElsewhere && said !== undefined && isFinal(said));
}

/** A report of the latest trainer's predecessor does not count. */
function saidBy(
  latest: TrainerProcess | Launch | undefined,
  told: Progress | undefined,
): ReportedState | undefined {
  return told === undefined || (latest !== undefined && latest.started > told.at) ? undefined : told.state;
}

async function statusOf(id: string, folder: string) {
  const trainer = await trainerOf(folder);
  const told = await lastProgress(join(folder, runFiles.events));
  const { latest, silent } = trainer;
  const isLive = worksOn(trainer, told);
  const said = saidBy(latest, told);
  const queued = isLive ? undefined : await queuedSince(folder, latest);
  const isNew = latest === undefined && told === undefined;
  const gone = silent === undefined ? 'failed' : 'lost';
  const resting = isNew || (await wasKilled(folder, latest)) ? 'stopped' : gone;
  const state = queued === undefined ? stateOf(said, isLive, resting) : 'queued';
  const request = state === 'running' ? await requestTo(folder, said) : undefined;
  const lines = state === 'failed' ? await lastLines(folder) : [];
  const isDeath = state === 'failed' && said !== 'failed';
  const isDiskFull = isDeath && lines.length === 0 && (await isFull(folder)) === true;
  const death = isDiskFull ? 'disk-full' : isDeath ? 'unknown' : undefined;
  const message =
    explanation(id, state, trainer, death) ?? (state === told?.state ? told.message : undefined);
  const changedAt = queued?.at ?? told?.at ?? latest?.started;
  return {
    ...({ state, request, isLive, death, message, queued, progress: told, lastLines: lines } as const),
    canResume: !isLive && state !== 'done',
    silentSince: state === 'lost' ? silent : undefined,
    process: latest && { pid: latest.pid, host: latest.host },
    ...(changedAt !== undefined && { changedAt }),
  };
}

async function requestTo(folder: string, said: ReportedState | undefined): Promise<Run['request']> {
  if (said === 'stopping' || (await isThere(join(folder, runFiles.stop)))) return 'stop';
  return (await isThere(join(folder, runFiles.finish))) ? 'finish' : undefined;
}

/**
 * Undefined also when the run was launched after it was queued, because the launcher may have ended before it could
 * remove the file.
 */
async function queuedSince(
  folder: string,
  latest: TrainerProcess | Launch | undefined,
): Promise<Queued | undefined> {
  const queued = await readWhole(join(folder, runFiles.queued), queuedSchema());
  return queued !== undefined && latest !== undefined && latest.started >= queued.at ? undefined : queued;
}

/** `killed.json` records a deliberate kill. */
async function wasKilled(folder: string, latest: TrainerProcess | Launch | undefined): Promise<boolean> {
  const killed = await readWhole(join(folder, runFiles.killed), killedSchema());
  return killed !== undefined && latest !== undefined && killed.at > latest.started;
}

/** @param resting the state when no trainer works on the run and none has reported an end */
function stateOf(said: ReportedState | undefined, isLive: boolean, resting: RunState): RunState {
  if (said !== undefined && isFinal(said)) return said; // its process may be about to end
  return isLive ? 'running' : resting;
}

function explanation(
  id: string,
  state: RunState,
  { latest, silent }: LatestTrainer,
  death: Run['death'],
): string | undefined {
  const goesOn = `\`tandem resume ${id}\` goes on with it.`;
  if (state === 'queued') {
    return `Queued. Starts when a VS Code window is open. \`tandem resume ${id}\` starts it now.`;
  }
  if (state === 'stopped' && latest === undefined) return `It was prepared and never started. ${goesOn}`;
  if (state === 'lost' && latest !== undefined) {
    return (
      `It ran on ${latest.host}, and nothing was heard of it since ${silent}. When it is not at work there any more, ` +
      `\`tandem resume ${id} --take-over\` goes on with it here.`
    );
  }
  if (death === undefined) return undefined;
  const who = latest === undefined ? '' : ` (process ${latest.pid})`;
  if (death === 'disk-full') {
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
