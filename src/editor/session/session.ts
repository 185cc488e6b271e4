import { AgentReading } from '../../core/dialogue/agentMessage';
import type { Dialogue } from '../../core/dialogue/dialogue';
import type { DeveloperReply } from '../../core/dialogue/dialogueParts';
import { GrowingText } from '../../core/growingText';
import { isProgram, type Task } from '../../core/task/task';
import { agentText } from '../../core/dialogue/protocol';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Draft, FromWebview, SessionState, ToWebview } from '../../../webview/session/protocol';
import type { Asks } from '../panel';
import { pageDifferences } from '../../views/gradeView';
import { turnView } from '../../views/turnView';
import {
  type Action,
  type Effect,
  type Logged,
  type OfKind,
  type Present,
  type Request,
  type Result,
  canEnd,
  isPlayedAsAgent,
  loggedState,
  newState,
  ratingOf,
  type State,
} from './state';
import { DialogueLink, graderOf, protocolFor, type SessionParts, type SessionTask } from './dialogueLink';
import type { Drafts } from './drafts';
import { reduce } from './reducer';
import { agentStream, pageStream, simulatorStream, Streaming } from './streaming';
import { changes, shownOf, titleOf, type Shown } from './view';

const MAX_DIALOGUES = 20;
const MAX_REPLIES = 50;

/** Carries an effect out. @param signal stops the work; absent for what is no step @returns what the state needs */
type Way<Kind extends Effect['type']> = (
  effect: OfKind<Effect, Kind>,
  signal: AbortSignal | undefined,
) => Promise<Result | undefined> | Promise<void> | undefined;

export class Session {
  /** Questions of the page that need no panel. */
  readonly asks = {
    start: (request) => this.do(request),
    reply: (request) => this.do(request),
    choose: (request) => this.do(request),
    rate: (request) => this.do(request),
    'rate-turn': (request) => this.do(request),
    draft: async ({ draft }) => {
      await this.do({ type: 'edited' });
      if (this.id !== undefined) await this.drafts.write(this.id, draft);
    },
  } satisfies Partial<Asks<FromWebview>>;

  private readonly link: DialogueLink;
  private readonly streaming = new Streaming((stream) => void this.dispatch({ type: 'streamed', stream }));
  private readonly listeners = new Set<(message: ToWebview) => void>();
  private told: Shown;
  private control = new AbortController();
  private running: Promise<void> = Promise.resolve();
  /** Ratings are logged one after the other: stars right after a comment must not bring the earlier rating back. */
  private ratings: Promise<void> = Promise.resolve();

  private constructor(
    private readonly parts: SessionParts,
    readonly from: SessionTask,
    private readonly drafts: Drafts,
    private current: State,
  ) {
    this.link = new DialogueLink(parts, from, current.episode);
    this.told = this.shown;
  }

  /** A task without a dialogue: nothing is logged before it is started. */
  static ofTask(parts: SessionParts, from: SessionTask, drafts: Drafts): Session {
    const seat = from.asAgent === true ? 'agent' : 'developer';
    return new Session(parts, from, drafts, newState(from.task, seat));
  }

  /** A logged dialogue in any state. Nothing is written until the person continues. */
  static ofTrajectory(
    parts: SessionParts,
    trajectory: Trajectory,
    from: Pick<SessionTask, 'pack' | 'title' | 'own'>,
    drafts: Drafts,
  ): Session {
    const { task, started } = trajectory;
    const state = { ...newState(task), ...loggedState(trajectory, parts.consent.given?.pseudonym, parts.t) };
    const asAgent = isPlayedAsAgent(trajectory);
    return new Session(parts, { ...from, task, packName: started.pack, asAgent }, drafts, state);
  }

  get id(): string | undefined {
    return this.current.episode;
  }

  get task(): Task {
    return this.from.task;
  }

  get title(): string {
    return titleOf(this.from);
  }

  get answer(): string | undefined {
    return this.current.answer;
  }

  get state(): SessionState {
    return this.shown.state;
  }

  get snapshot(): Shown {
    this.told = this.shown;
    return this.told;
  }

  onMessage(listener: (message: ToWebview) => void): { dispose: () => void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Does what a person asks; resolves when it is done, or was refused, and all that follows from it. */
  do(request: Request): Promise<void> {
    return this.dispatch(request);
  }

  /** False while two candidates wait: neither is the agent's message yet, and the person is told so. */
  async mayEndNow(): Promise<boolean> {
    await this.do({ type: 'may-end' });
    return canEnd(this.current);
  }

  async earlierReplies(): Promise<readonly string[]> {
    const by = this.parts.consent.given?.pseudonym;
    if (this.id === undefined || by === undefined || this.from.asAgent === true) return [];
    return earlierReplies(await this.parts.log(), by, this.id);
  }

  settled(): Promise<void> {
    return this.running;
  }

  dispose(): void {
    this.streaming.dispose();
    this.listeners.clear();
    this.do({ type: 'close' }).catch((error: unknown) => this.parts.report(error));
  }

  private dispatch(action: Action, signal?: AbortSignal): Promise<void> {
    const before = this.current;
    const { state, effects } = reduce(before, action, this.present);
    this.current = state;
    if (state !== before) this.refresh();
    if (state.work === undefined || state.work.request === before.work?.request) {
      const done = this.carryOut(effects, signal);
      const waits = state.next !== undefined && state.next !== before.next;
      return waits ? done.then(() => this.running) : done;
    }
    this.control = new AbortController();
    const work = this.control.signal;
    // Whatever goes wrong, also in the state or the view, ends the work.
    this.running = this.carryOut(effects, work).catch((error: unknown) =>
      this.dispatch(this.failed(error, work), work),
    );
    return this.running;
  }

  private async carryOut(effects: readonly Effect[], signal: AbortSignal | undefined): Promise<void> {
    for (const effect of effects) {
      const result = await this.resultOf(effect, signal);
      if (result) await this.dispatch(result, signal);
      if (result?.type === 'failed') return;
    }
  }

  private async resultOf(effect: Effect, signal: AbortSignal | undefined): Promise<Result | undefined> {
    try {
      const way = this.ways[effect.type] as Way<Effect['type']>;
      return (await way(effect, signal)) as Result | undefined;
    } catch (error) {
      return this.failed(error, signal);
    }
  }

  private failed(error: unknown, signal: AbortSignal | undefined): Result {
    const isStopped = signal?.aborted === true;
    return { type: 'failed', error, isStopped, isAside: signal === undefined, episode: this.link.id };
  }

  private async stop(): Promise<void> {
    this.control.abort();
    await this.running;
  }

  private get present(): Present {
    const { t, agentName, simulatorName, showsCandidates, consent } = this.parts;
    const protocol = protocolFor(this.task, this.parts);
    const connected = {
      agent: this.parts.isConnected(agentName),
      simulator: this.parts.isConnected(simulatorName),
    };
    return { t, agentName, connected, showsCandidates, protocol, at: Date.now(), consent: consent.given };
  }

  refresh(): void {
    const before = this.told;
    this.told = this.shown;
    for (const message of changes(before, this.told)) this.tell(message);
  }

  private get shown(): Shown {
    return shownOf(this.current, this.parts, this.from);
  }

  private tell(message: ToWebview): void {
    for (const listener of this.listeners) listener(message);
  }

  private readonly ways: { readonly [Kind in Effect['type']]: Way<Kind> } = {
    read: async ({ as, tries, isAnew }) => {
      if (isAnew === true) this.link.forget();
      return { type: as, trajectory: await this.link.claimed(tries) };
    },
    follow: () => this.follow(),
    forget: () => {
      this.link.forget();
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
      this.forgetDraft(dialogue.id, draft);
      return logged(dialogue);
    },
    say: async ({ draft, by }) => {
      await this.parts.consent.record();
      const dialogue = await this.link.attached();
      await dialogue.agentSaid(agentText(draft.text, draft.isAnswer === true), by);
      this.forgetDraft(dialogue.id, draft);
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
      const isSeated = this.from.asAgent === true;
      const dialogue = await (isSeated ? this.link.withSimulatorNow() : this.link.attached());
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
      const grade = await dialogue.grade(graderOf(this.parts), this.parts.gradingMode, signal);
      return { type: 'graded', grade };
    },
    'compare-pages': async () => {
      const { task, answer } = this.current;
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
    stop: () => this.stop(),
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
    },
    tell: ({ message }) => {
      this.tell(message);
    },
  };

  /** As soon as the log has the text: it would come back as the draft of the next one. */
  private forgetDraft(episode: string, draft: Draft): void {
    this.drafts.forget(episode, draft).catch((error: unknown) => this.parts.report(error));
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
    const rating = ratingOf(this.current, request);
    if (rating === undefined) return;
    await this.parts.consent.record();
    await this.dispatch({ type: 'rated', rating: await this.link.rate({ ...rating, by }) });
  }

  /** Keeps the shown dialogue when it cannot be read, and reads again when a step was logged here meanwhile. */
  private async follow(): Promise<Result | undefined> {
    const { phase, turns } = this.current;
    try {
      const trajectory = await this.link.logged();
      const now = this.current;
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

/** Returns a developer's replies in earlier dialogues. They are read from the log, so that a deletion there counts. */
async function earlierReplies(log: TrajectoryLog, by: string, episode: string): Promise<string[]> {
  const filter = { collaborator: by };
  const { rows } = log.list({ filter, sort: 'newest', offset: 0, limit: MAX_DIALOGUES });
  const ids = rows.map(({ id }) => id).filter((id) => id !== episode);
  const replies: string[] = [];
  for await (const { turns } of log.trajectories(ids.reverse())) {
    for (const { reply } of turns) if (reply?.by === by) replies.push(reply.text);
  }
  return replies.slice(-MAX_REPLIES);
}
