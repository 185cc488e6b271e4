import { setTimeout as sleep } from 'node:timers/promises';
import { Dialogue } from '../../core/dialogue/dialogue';
import type { SampledAgent } from '../../core/dialogue/candidates';
import type { DialogueParts } from '../../core/dialogue/parts';
import type { Prompts } from '../../core/dialogue/prompts';
import type { Protocol } from '../../core/dialogue/protocol';
import { deriveSeed } from '../../core/dialogue/seed';
import { Fault } from '../../core/fault';
import type { GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import type { Simulator } from '../../core/dialogue/simulator';
import type { Model, SamplingSettings } from '../../core/model/model';
import type { Task } from '../../core/task/task';
import type { EventOf } from '../../core/trajectory/event';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import { termsOf } from '../../core/trajectory/terms';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { ConsentRequest } from '../../../webview/session/protocol';
import type { Namer } from '../models/called';
import type { Translate } from '../translate';
import { isPlayedElsewhere, notices } from './notices';
import type { NewRating } from './state';

const TRY_AGAIN_MS = 250;

/**
 * The consent of a developer: nothing is logged of them before they have agreed, under a pseudonym and for a purpose.
 */
export interface ConsentKeeper {
  readonly given: ConsentRequest | undefined;
  /** Initial values of the form. */
  readonly suggestion: ConsentRequest;
  give(consent: ConsentRequest): Promise<void>;
  /** Makes sure that this folder's log holds the consent, before it holds anything of the developer. */
  record(): Promise<void>;
}

/**
 * The parts of Tandem that a session uses. They are read when they are needed, so that changed settings count at once.
 */
export interface SessionParts extends Namer {
  /** Translates what a person sees; what is logged or sent stays English. */
  readonly t: Translate;
  /** Model in the settings; empty when none is configured. */
  readonly agentName: string;
  /** Agent that writes the second candidate; empty when the agent itself does. */
  readonly secondAgentName: string;
  readonly simulatorName: string;
  readonly protocol: Protocol;
  /** Sampling settings of the agent. */
  readonly sampling: SamplingSettings;
  readonly gradingMode: GradingMode;
  /** True when a person sees counters of turns and time. */
  readonly showsCounters: boolean;
  /** True when a developer chooses each message of the agent from two candidates. */
  readonly showsCandidates: boolean;
  /** Reason why nothing is played in this workspace; undefined in a trusted one. */
  readonly restriction: string | undefined;
  readonly consent: ConsentKeeper;
  /** Folder of the log; empty when no folder is open. */
  readonly dataFolder: string;
  /** @throws {Fault} with the remedy when there is no folder to log into, or it cannot be written */
  log(): Promise<TrajectoryLog>;
  /** @throws {Fault} when the setting names no model that can be opened */
  openAgent(): Promise<Model>;
  /**
   * Opens the second agent with its own sampling settings; undefined when none is configured.
   * @throws {Fault} when the setting names no model that can be opened
   */
  openSecondAgent(): Promise<SampledAgent | undefined>;
  /** Returns undefined when none is configured. */
  openSimulator(): Promise<Simulator | undefined>;
  prompts(): Promise<Prompts>;
  grader(): Promise<Grader>;
  /** Writes details to the output channel; a person sees one sentence of them. */
  report(error: unknown): void;
}

/** Source of a session's task: a pack that may still hold it, and the pack's name in the log. */
export interface SessionTask {
  readonly task: Task;
  /** Path of the pack's file; absent when only the log knows the task. */
  readonly pack?: string;
  readonly packName?: string;
  /** Title in the list of tasks, where several have the same. */
  readonly title?: string;
  /** Path of the file with the developer's own function that the task is about. */
  readonly file?: string;
}

/**
 * A session's hold on its dialogue. It begins the dialogue, or resumes it from the log with the present configuration.
 * All work on the dialogue is done under a claim, so that no other window or command plays it at the same time. Nothing
 * is claimed while a person thinks: a lost window whose extension host lives on then blocks nobody.
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

  /** Logs the start of a new dialogue in which the developer has the seat. */
  async begin(pseudonym: string): Promise<Dialogue> {
    this.refuseIfRestricted();
    const { task, packName } = this.from;
    // A failure to open the agent is shown before anything is logged.
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

  /** Returns the dialogue, resumed from the log when it was only shown so far, or was let go. */
  async attached(): Promise<Dialogue> {
    this.refuseIfRestricted();
    if (this.held !== undefined && this.claiming !== undefined) return this.held;
    this.held = await Dialogue.resume(await this.claimed(), await this.dialogueParts());
    return this.held;
  }

  /**
   * Returns the dialogue as the log has it now, claimed until `letGo`.
   * @param tries with a moment in between, in which a closing window lets go of the dialogue
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

  /** Returns the dialogue as the log has it, for display; undefined when the log no longer has it. */
  async logged(): Promise<Trajectory | undefined> {
    return this.episode === undefined ? undefined : (await this.parts.log()).trajectory(this.episode);
  }

  /** Releases the claim. */
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

  /** Forgets the dialogue; it is resumed with the configuration of that moment when somebody goes on. */
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

  /**
   * Returns a model that is opened when it is asked, so that an old dialogue can be graded without it and changed
   * settings count at once.
   */
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
    // A command that plays a collection claims all of it at once, and may be playing this dialogue.
    await (await log.claim(`collection-${collection}`, 'The collection of this dialogue')).release();
    return claim;
  } catch (error) {
    await claim.release();
    throw error;
  }
}
