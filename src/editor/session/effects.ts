import { setTimeout as sleep } from 'node:timers/promises';
import { Dialogue } from '../../core/dialogue/dialogue';
import type { DeveloperReply, DialogueParts } from '../../core/dialogue/dialogueParts';
import { AgentReading } from '../../core/dialogue/agentMessage';
import { deriveSeed } from '../../core/seed';
import type { Simulator } from '../../core/dialogue/simulator';
import { Fault } from '../../core/fault';
import { isProgram } from '../../core/task/task';
import { GrowingText } from '../../core/growingText';
import type { EventOf } from '../../core/trajectory/event';
import type { Claim, TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Draft, ToWebview } from '../../../webview/session/protocol';
import type { OfKind } from '../pageMessages';
import type { Effect, Logged, Result } from './actions';
import { isPlayedElsewhere, notices } from './notices';
import { pageDifferences } from '../dialogue/debrief';
import { dialogueParts, graderOf, protocolFor, type SessionParts, type SessionTask } from './sessionParts';
import { ratingOf, type NewRating, type State } from './state';
import { agentStream, pageStream, simulatorStream, Streaming } from './streaming';
import { turnView } from '../dialogue/turnView';

const TRY_AGAIN_MS = 250;

interface Store {
  state(): State;
  dispatch(result: Result): Promise<void>;
  tell(message: ToWebview): void;
  /** Stops the work; resolves when it is over. */
  stop(): Promise<void>;
}

type Way<Kind extends Effect['type']> = (
  effect: OfKind<Effect, Kind>,
  signal: AbortSignal | undefined,
) => Promise<Result | undefined> | Promise<void> | undefined;

export class Effects {
  /** Ratings are logged one after the other: stars right after a comment must not bring the earlier rating back. */
  private ratings: Promise<void> = Promise.resolve();

  private readonly ways: { readonly [Kind in Effect['type']]: Way<Kind> } = {
    read: async ({ as, tries, isAnew }) => {
      if (isAnew === true) this.link.forget();
      return { type: as, trajectory: await this.link.claimed(tries) };
    },
    follow: () => this.follow(),
    forget: () => {
      this.link.forget();
      return undefined;
    },
    begin: async ({ by }) => {
      await this.parts.consent.record();
      return logged(await this.link.begin(by));
    },
    attach: async () => logged(await this.link.attached()),
    reply: async ({ draft, by, milliseconds }) => {
      await this.parts.consent.record();
      const dialogue = await this.link.attached();
      await dialogue.reply(draft.text, { ...authorOf(draft), pins: draft.pins, by, milliseconds });
      return logged(dialogue);
    },
    choose: async ({ picked, by, milliseconds }) => {
      await this.parts.consent.record();
      const dialogue = await this.link.attached();
      await dialogue.choose(picked, { by, milliseconds });
      return logged(dialogue, 'agent');
    },
    'ask-agent': ({ isAgain }, signal) =>
      this.askAgent(isAgain === true ? 'anotherSample' : 'agentTurn', signal),
    'ask-both': (_, signal) => this.askBoth(signal),
    'ask-simulator': async ({ isChosenNow }, signal) => {
      if (isChosenNow === true) await this.link.simulatorNow();
      const dialogue = await this.link.attached();
      await this.streaming.show(GrowingText, simulatorStream, (streams) =>
        dialogue.simulatorReply({ signal, ...streams }),
      );
      return logged(dialogue);
    },
    suggest: async (_, signal) => {
      const { name } = await this.link.simulatorNow();
      const text = await (await this.link.attached()).suggest({ signal });
      signal?.throwIfAborted();
      return { type: 'suggested', suggestion: { text, by: name } };
    },
    'give-seat': async () => {
      const simulator = await this.link.simulatorNow();
      const dialogue = await this.link.attached();
      await dialogue.handOver({ kind: simulator.kind, name: simulator.name }, simulator);
      return { type: 'seated', seat: 'simulator', dialogue: stepOf(dialogue) };
    },
    'take-seat': async ({ by }) => {
      await this.parts.consent.record();
      const dialogue = await this.link.attached();
      await dialogue.handOver({ kind: 'developer', name: by });
      return { type: 'seated', seat: 'developer', dialogue: stepOf(dialogue) };
    },
    end: async () => {
      const dialogue = await this.link.attached();
      if (dialogue.next !== 'nobody') await dialogue.endNow();
      return logged(dialogue);
    },
    grade: async (_, signal) => {
      const dialogue = await this.link.attached();
      return {
        type: 'graded',
        grade: await dialogue.grade(graderOf(this.parts), this.parts.gradingMode, signal),
      };
    },
    'compare-pages': async () => {
      const { task, answer } = this.store.state();
      if (isProgram(task) || answer === undefined || answer === '') return undefined;
      try {
        return { type: 'compared', differences: await pageDifferences(answer, task, this.parts.pages) };
      } catch (error) {
        // The grade stands without it.
        this.parts.report(error);
        return undefined;
      }
    },
    abandon: async ({ reason, message }) => {
      // The reason of a skip is in the person's words.
      if (reason === 'skipped') await this.parts.consent.record();
      return this.link.abandon(reason, message);
    },
    rate: (effect) => (this.ratings = this.ratings.catch(() => undefined).then(() => this.rate(effect))),
    'give-consent': async ({ consent }) => {
      await this.parts.consent.give(consent);
      return { type: 'consented' };
    },
    stop: () => this.store.stop(),
    'let-go': () => this.link.letGo().catch((error: unknown) => this.parts.report(error)),
    finish: async () => {
      try {
        await this.link.letGo();
        return { type: 'finished' };
      } catch (error) {
        return { type: 'finished', error };
      }
    },
    report: ({ error }) => {
      this.parts.report(error);
      return undefined;
    },
    tell: ({ message }) => {
      this.store.tell(message);
      return undefined;
    },
  };

  private readonly link: DialogueLink;
  private readonly streaming: Streaming;

  constructor(
    private readonly parts: SessionParts,
    from: SessionTask,
    private readonly store: Store,
  ) {
    this.link = new DialogueLink(parts, from, store.state().episode);
    this.streaming = new Streaming((stream) => void store.dispatch({ type: 'streamed', stream }));
  }

  /** The dialogue's id in the log, once it has begun: a step that fails may have begun it. */
  get episode(): string | undefined {
    return this.link.id;
  }

  /** Resolves with a result where the state needs one. @param signal stops the work; absent for what is no step */
  async carryOut(effect: Effect, signal?: AbortSignal): Promise<Result | undefined> {
    const way = this.ways[effect.type] as Way<Effect['type']>;
    return (await way(effect, signal)) as Result | undefined;
  }

  dispose(): void {
    this.streaming.dispose();
  }

  private async askAgent(
    how: 'agentTurn' | 'anotherSample',
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const dialogue = await this.link.attached();
    const earlier = dialogue.turns.map((turn) => turnView(turn));
    const isPage = !isProgram(dialogue.task);
    await this.streaming.show(
      AgentReading,
      (text) => (isPage ? pageStream(text, earlier) : agentStream(text, earlier)),
      (streams) => dialogue[how]({ signal, ...streams }),
    );
    return logged(dialogue, 'agent');
  }

  /** Neither message is shown before both are written, because the faster model would give itself away. */
  private async askBoth(signal: AbortSignal | undefined): Promise<Result> {
    const dialogue = await this.link.attached();
    const rival = await this.parts.openSecondAgent();
    await dialogue.drawCandidates({ signal, ...(rival !== undefined && { rival }) });
    return logged(dialogue, 'agent');
  }

  /** The state gets the rating before the next one is made, which is a change of this one. */
  private async rate({ request, by }: OfKind<Effect, 'rate'>): Promise<void> {
    const rating = ratingOf(this.store.state(), request);
    if (rating === undefined) return;
    await this.parts.consent.record();
    await this.store.dispatch({ type: 'rated', rating: await this.link.rate({ ...rating, by }) });
  }

  /** Keeps the shown dialogue when it cannot be read, and reads again when a step was logged here meanwhile. */
  private async follow(): Promise<Result | undefined> {
    const { phase, turns } = this.store.state();
    try {
      const trajectory = await this.link.logged();
      const now = this.store.state();
      if (now.phase !== phase || now.turns !== turns) return await this.follow();
      return trajectory && { type: 'followed', trajectory };
    } catch (error) {
      this.parts.report(error);
      return undefined;
    }
  }
}

const logged = (dialogue: Dialogue, by?: 'agent'): Result => ({
  type: 'logged',
  by,
  dialogue: stepOf(dialogue),
});

function stepOf({ id, protocol, agent, turns, candidates, answer, next }: Dialogue): Logged {
  return { episode: id, protocol, playedBy: agent, turns: [...turns], candidates, answer, next };
}

/** In the log's categories (docs/data.md). Spaces at either end do not count as an edit. */
function authorOf({ text, suggestion }: Draft): Omit<DeveloperReply, 'by' | 'milliseconds'> {
  if (suggestion === undefined) return { author: 'developer' };
  const isEdited = text.trim() !== suggestion.text.trim();
  return {
    author: isEdited ? 'developer-edited-suggestion' : 'developer-sent-suggestion',
    suggestion: suggestion.text,
    suggestedBy: suggestion.by,
  };
}

/**
 * A session's hold on its dialogue. All work is done under a claim, so that no other window or command plays it at the
 * same time. Nothing is claimed while a person thinks: a lost extension host then blocks no one.
 */
class DialogueLink {
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
    const { task, packName } = this.from;
    // A failure to open the agent is shown before anything is logged.
    await this.parts.openAgent();
    this.held = await Dialogue.start({
      ...(await this.dialogueParts()),
      task,
      ...(packName === undefined ? {} : { pack: packName }),
      collaborator: { kind: 'developer', name: pseudonym },
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

  /** Returns the dialogue as the log has it, for display; undefined when the log no longer has it. */
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

  /** The next step resumes the dialogue with the configuration of that moment. */
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
    const parts = await dialogueParts(this.parts);
    this.simulator = parts.simulator?.name;
    return parts;
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
