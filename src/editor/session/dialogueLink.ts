import { setTimeout as sleep } from 'node:timers/promises';
import { Dialogue } from '../../core/dialogue/dialogue';
import type { DialogueParts } from '../../core/dialogue/dialogueParts';
import { deriveSeed } from '../../core/seed';
import type { Simulator } from '../../core/dialogue/simulator';
import { Fault } from '../../core/fault';
import { PERSON, type Collaborator, type EventOf } from '../../core/trajectory/event';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { isPlayedElsewhere, notices } from './notices';
import type { NewRating } from './state';
import { colBenchPageProtocol, type Protocol } from '../../core/dialogue/protocol';
import type { Grader } from '../../core/grading/grader';
import type { Model } from '../../core/model/model';
import type { PageReader } from '../../core/page/outline';
import { isProgram, type Task } from '../../core/task/task';
import { termsOf } from '../../core/trajectory/modelTerms';
import type { OwnFunction } from '../../../webview/session/protocol';
import type { Engine } from '../engine';

/** What a session needs of the window; read when it is needed, so that changed settings count at once. */
export type SessionParts = Pick<Engine, Setting | 't' | 'log' | 'report' | 'calledBy' | 'isConnected'> &
  Pick<Engine, 'restriction' | 'dataFolder' | 'prompts' | 'pageParts' | 'drawPage'> &
  Pick<Engine, 'openAgent' | 'openSecondAgent' | 'openSimulator'> & {
    readonly consent: Pick<Engine['consent'], 'given' | 'suggestion' | 'give' | 'record'>;
    readonly pages: PageReader;
    grader(): Promise<Grader>;
  };

type Setting =
  | 'agentName'
  | 'secondAgentName'
  | 'simulatorName'
  | 'protocol'
  | 'sampling'
  | 'gradingMode'
  | 'showsCounters'
  | 'showsCandidates';

/** Source of a session's task: a pack that may still hold it, and the pack's name in the log. */
export interface SessionTask {
  readonly task: Task;
  readonly pack?: string;
  readonly packName?: string;
  readonly title?: string;
  readonly own?: OwnFunction;
  /** The person plays the agent, and a simulator the collaborator. */
  readonly asAgent?: boolean;
}

export async function dialogueParts(parts: SessionParts, asAgent = false): Promise<DialogueParts> {
  const simulator = await parts.openSimulator();
  return {
    log: await parts.log(),
    agent: asAgent ? person : agentOf(parts),
    ...(simulator && { simulator }),
    prompts: await parts.prompts(),
    sampling: parts.sampling,
    ...(await parts.pageParts()),
  };
}

/** The setting of the reply limit is about functions; that of pages is the published one. */
export const protocolFor = (task: Task, { protocol }: Pick<SessionParts, 'protocol'>): Protocol =>
  isProgram(task) ? protocol : { ...protocol, replyLimit: colBenchPageProtocol.replyLimit };

/** It is opened when it is asked: a page is graded without it. */
export const graderOf = (parts: SessionParts): Pick<Grader, 'grade'> => ({
  grade: async (...request) => (await parts.grader()).grade(...request),
});

/** It is opened when it is asked, so that an old dialogue is graded without it and changed settings count at once. */
const agentOf = (parts: SessionParts): Model => ({
  name: parts.agentName,
  ...termsOf(parts.agentName),
  generate: async (...request) => (await parts.openAgent()).generate(...request),
});

const person: Model = {
  name: PERSON,
  generate: () => Promise.reject(new Error('No model is asked where a person plays the agent.')),
};

const TRY_AGAIN_MS = 250;

/**
 * A session's hold on its dialogue. All work is done under a claim, so that no other window or command plays it at the
 * same time. Nothing is claimed while a person thinks: a lost extension host then blocks no one.
 */
export class DialogueLink {
  private held: Dialogue | undefined;
  private simulator: string | undefined;
  private claiming: Promise<Claim> | undefined;
  private releasing: Promise<void> = Promise.resolve();

  constructor(
    private readonly parts: SessionParts,
    private readonly from: SessionTask,
    private episode: string | undefined,
  ) {}

  get id(): string | undefined {
    return this.episode;
  }

  async begin(pseudonym: string): Promise<Dialogue> {
    this.refuseIfRestricted();
    const { task, packName, asAgent = false } = this.from;
    // A failure to open the other side is shown before anything is logged.
    const simulator = asAgent ? await this.simulatorNow() : undefined;
    if (simulator === undefined) await this.parts.openAgent();
    this.held = await Dialogue.start({
      ...(await this.dialogueParts()),
      task,
      ...(packName === undefined ? {} : { pack: packName }),
      collaborator: simulator ? seatOf(simulator) : { kind: 'developer', name: pseudonym },
      protocol: protocolFor(task, this.parts),
      seed: deriveSeed(task.id, Date.now()),
    });
    this.episode = this.held.id;
    await this.claim(await this.parts.log(), this.episode);
    return this.held;
  }

  /** Returns the dialogue, resumed from the log when it was only shown so far, or was let go. */
  async attached(): Promise<Dialogue> {
    this.refuseIfRestricted();
    if (this.held !== undefined && this.claiming !== undefined) return this.held;
    this.held = await Dialogue.resume(await this.claimed(), await this.dialogueParts());
    return this.held;
  }

  /** Claimed until `letGo`. @param tries a moment apart, for a closing window @throws {Fault} `trajectory/claimed` */
  async claimed(tries = 1): Promise<Trajectory> {
    if (this.episode === undefined) throw notices.lost(this.parts.t);
    const log = await this.parts.log();
    try {
      await this.claim(log, this.episode);
    } catch (error) {
      if (tries <= 1 || !isPlayedElsewhere(error)) throw error;
      await sleep(TRY_AGAIN_MS);
      return this.claimed(tries - 1);
    }
    const trajectory = await log.trajectory(this.episode);
    if (trajectory === undefined) throw notices.lost(this.parts.t);
    return trajectory;
  }

  async logged(): Promise<Trajectory | undefined> {
    return this.episode === undefined ? undefined : (await this.parts.log()).trajectory(this.episode);
  }

  letGo(): Promise<void> {
    const { claiming } = this;
    if (claiming === undefined) return this.releasing;
    this.claiming = undefined;
    // A refused claim was reported when it was asked for.
    this.releasing = claiming.then(
      (claim) => claim.release(),
      () => undefined,
    );
    return this.releasing;
  }

  /** Returns the configured simulator; a dialogue that was opened with another one is resumed with it. */
  async simulatorNow(): Promise<Simulator> {
    const simulator = await this.parts.openSimulator();
    if (simulator === undefined) throw notices.noSimulator(this.parts.t);
    if (this.simulator !== simulator.name) this.held = undefined;
    return simulator;
  }

  /** The configured simulator has the collaborator's seat, which the log says if another one had it before. */
  async withSimulatorNow(): Promise<Dialogue> {
    const simulator = await this.simulatorNow();
    const dialogue = await this.attached();
    if (dialogue.collaborator.name !== simulator.name) await dialogue.handOver(seatOf(simulator), simulator);
    return dialogue;
  }

  /** Logs that the dialogue is not finished, and lets go of it. It needs no agent, so that a broken one can be left. */
  async abandon(reason: EventOf<'abandoned'>['reason'], message: string): Promise<void> {
    this.held = undefined;
    if (this.episode === undefined) return;
    const log = await this.parts.log();
    await this.claim(log, this.episode);
    await log.append({ event: 'abandoned', episode: this.episode, reason, message }, { durable: true });
  }

  /** Logs a rating of the dialogue or of a turn. It does not change the dialogue, and needs no claim. */
  async rate(
    rating: NewRating & { readonly by: string },
  ): Promise<EventOf<'rating'> | EventOf<'turn-rating'>> {
    if (this.episode === undefined) throw notices.lost(this.parts.t);
    const log = await this.parts.log();
    const logged = await log.append({ ...rating, episode: this.episode }, { durable: true });
    if (logged.event === 'turn-rating') this.held?.rated(logged);
    return logged;
  }

  forget(): void {
    this.held = undefined;
  }

  /** Refuses to play in an untrusted workspace; rating or skipping a dialogue runs nothing and is allowed. */
  private refuseIfRestricted(): void {
    const { restriction } = this.parts;
    if (restriction !== undefined) throw new Fault('editor/restricted', restriction);
  }

  private async claim(log: TrajectoryLog, episode: string): Promise<void> {
    const claimAnew = (): Promise<Claim> => claimEpisode(log, episode);
    // A claim of this session that is still being released would refuse the next one; its failure was reported by
    // `letGo`.
    const claiming = (this.claiming ??= this.releasing.then(claimAnew, claimAnew));
    try {
      await claiming;
    } catch (error) {
      if (this.claiming === claiming) this.claiming = undefined;
      throw error;
    }
  }

  private async dialogueParts(): Promise<DialogueParts> {
    const parts = await dialogueParts(this.parts, this.from.asAgent);
    this.simulator = parts.simulator?.name;
    return parts;
  }
}

const seatOf = ({ kind, name }: Simulator): Collaborator => ({ kind, name });

async function claimEpisode(log: TrajectoryLog, episode: string): Promise<Claim> {
  const claim = await log.claim(`episode-${episode}`, 'This dialogue');
  const collection = log.summary(episode)?.collection;
  if (collection === undefined) return claim;
  try {
    // A command that plays a collection claims all of it at once, and may be playing this dialogue.
    await (await log.claim(`collection-${collection}`, 'The collection of this dialogue')).release();
    return claim;
  } catch (error) {
    await claim.release();
    throw error;
  }
}
