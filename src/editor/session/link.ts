import { setTimeout as sleep } from 'node:timers/promises';
import { Dialogue } from '../../core/dialogue/dialogue';
import type { SampledAgent } from '../../core/dialogue/candidates';
import type { DialogueParts } from '../../core/dialogue/parts';
import { deriveSeed } from '../../core/dialogue/seed';
import { Fault } from '../../core/fault';
import type { Simulator } from '../../core/dialogue/simulator';
import type { Model } from '../../core/model/model';
import type { Task } from '../../core/task/task';
import type { EventOf } from '../../core/trajectory/event';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import { termsOf } from '../../core/trajectory/terms';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { isPlayedElsewhere, notices } from './notices';
import type { SessionParts } from './parts';

const TRY_AGAIN_MS = 250;

/** A rating before the log gives it a time and a dialogue. */
type NewEventOf<K extends 'rating' | 'turn-rating'> = Omit<EventOf<K>, 'version' | 'at' | 'episode'>;

/** Where a session's task comes from: a pack that may hold it still, and its name as the log keeps it. */
export interface SessionTask {
  readonly task: Task;
  /** Path of the pack's file; absent when only the log knows the task. */
  readonly pack?: string;
  readonly packName?: string;
  /** What the list of tasks calls it, where several have one title. */
  readonly title?: string;
  /** Path of the file of the developer's own function that the task is about. */
  readonly file?: string;
}

/**
 * A session's hold on its dialogue: begins it, or takes it up from the log with the parts that are configured now.
 * Whatever it does with the dialogue it does under a claim, so that no other window or command plays it too. While a
 * person thinks nothing is claimed: a window that is lost, with an extension host that lives on, keeps nobody out.
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

  get dialogue(): Dialogue | undefined {
    return this.held;
  }

  /** Logs the beginning of a new dialogue in which the developer has the seat. */
  async begin(pseudonym: string): Promise<Dialogue> {
    this.refuseIfRestricted();
    const { task, packName } = this.from;
    // An agent that cannot be opened is told before anything is logged.
    await this.parts.openAgent();
    this.held = await Dialogue.start({
      ...(await this.dialogueParts()),
      task,
      ...(packName === undefined ? {} : { pack: packName }),
      collaborator: { kind: 'developer', name: pseudonym },
      protocol: this.parts.protocol,
      seed: deriveSeed(task.id, Date.now()),
    });
    this.episode = this.held.id;
    await this.claim(await this.parts.log(), this.episode);
    return this.held;
  }

  /** The dialogue, taken up from the log when it was only shown so far, or was let go. */
  async attached(): Promise<Dialogue> {
    this.refuseIfRestricted();
    if (this.held !== undefined && this.claiming !== undefined) return this.held;
    this.held = await Dialogue.resume(await this.claimed(), await this.dialogueParts());
    return this.held;
  }

  /**
   * The dialogue as the log has it now, claimed until `letGo`.
   * @param tries with a moment in between, in which a window that is just closing lets go of it
   * @throws {Fault} `trajectory/claimed` when it is played elsewhere
   */
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

  /** The dialogue as the log has it, for looking at; undefined when the log has it no more. */
  async logged(): Promise<Trajectory | undefined> {
    return this.episode === undefined ? undefined : (await this.parts.log()).trajectory(this.episode);
  }

  /** Gives the claim back. */
  letGo(): Promise<void> {
    const { claiming } = this;
    if (claiming === undefined) return this.releasing;
    this.claiming = undefined;
    // Whoever asked for a claim that was refused has been told.
    this.releasing = claiming.then(
      (claim) => claim.release(),
      () => undefined,
    );
    return this.releasing;
  }

  /** The configured simulator; a dialogue that was opened with another one is taken up anew. */
  async simulatorNow(): Promise<Simulator> {
    const simulator = await this.parts.openSimulator();
    if (simulator === undefined) throw notices.noSimulator(this.parts.t);
    if (this.simulator !== simulator.name) this.held = undefined;
    return simulator;
  }

  /** The configured second agent; undefined when the agent writes both candidates. */
  secondAgent(): Promise<SampledAgent | undefined> {
    return this.parts.openSecondAgent();
  }

  /** Logs that the dialogue is not finished, and lets go of it. Needs no agent, so that a broken one can be left. */
  async abandon(reason: EventOf<'abandoned'>['reason'], message: string): Promise<void> {
    this.held = undefined;
    if (this.episode === undefined) return;
    const log = await this.parts.log();
    await this.claim(log, this.episode);
    await log.append({ event: 'abandoned', episode: this.episode, reason, message }, { durable: true });
  }

  /** Logs what somebody thinks of the dialogue, or of a turn. It plays no part in it, and needs no claim. */
  async rate(rating: NewEventOf<'rating'> | NewEventOf<'turn-rating'>): Promise<void> {
    if (this.episode === undefined) return;
    const log = await this.parts.log();
    const logged = await log.append({ ...rating, episode: this.episode }, { durable: true });
    if (logged.event === 'turn-rating') this.held?.rated(logged);
  }

  /** Lets go of the dialogue; it is taken up again, with the parts configured then, when somebody goes on. */
  release(): void {
    this.held = undefined;
  }

  /** Whoever takes a dialogue up goes on playing it; to rate or to skip it runs nothing. */
  private refuseIfRestricted(): void {
    const { restriction } = this.parts;
    if (restriction !== undefined) throw new Fault('editor/restricted', restriction);
  }

  private async claim(log: TrajectoryLog, episode: string): Promise<void> {
    const claimAnew = (): Promise<Claim> => claimEpisode(log, episode);
    // A claim of its own that is not quite gone would refuse the next one; whoever let go was told if that failed.
    const claiming = (this.claiming ??= this.releasing.then(claimAnew, claimAnew));
    try {
      await claiming;
    } catch (error) {
      if (this.claiming === claiming) this.claiming = undefined;
      throw error;
    }
  }

  private async dialogueParts(): Promise<DialogueParts> {
    const { parts } = this;
    const simulator = await parts.openSimulator();
    this.simulator = simulator?.name;
    return {
      log: await parts.log(),
      agent: this.agent(),
      ...(simulator === undefined ? {} : { simulator }),
      prompts: await parts.prompts(),
      sampling: parts.sampling,
    };
  }

  /** Opened when it is asked, so that an old dialogue can be graded without it and changed settings count at once. */
  private agent(): Model {
    const { parts } = this;
    return {
      name: parts.agentName,
      ...termsOf(parts.agentName),
      generate: async (...request) => (await parts.openAgent()).generate(...request),
    };
  }
}

async function claimEpisode(log: TrajectoryLog, episode: string): Promise<Claim> {
  const claim = await log.claim(`episode-${episode}`, 'This dialogue');
  const collection = log.summary(episode)?.collection;
  if (collection === undefined) return claim;
  try {
    // A command that plays a collection claims all of it at once, and may play this very dialogue.
    await (await log.claim(`collection-${collection}`, 'The collection of this dialogue')).release();
    return claim;
  } catch (error) {
    await claim.release();
    throw error;
  }
}
