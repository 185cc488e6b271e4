import type { Dialogue } from '../../core/dialogue/dialogue';
import type { DeveloperReply } from '../../core/dialogue/parts';
import { AgentReading } from '../../core/dialogue/reading';
import { GrowingText } from '../../core/growingText';
import type { GenerateOptions } from '../../core/model/model';
import type { Draft, StreamView, ToWebview } from '../../../webview/session/protocol';
import type { OfKind } from '../pageMessages';
import type { Effect, Logged, Result } from './actions';
import type { DialogueLink, SessionParts } from './link';
import { ratingOf, type State } from './state';
import { agentStream, simulatorStream, turnView } from './view';

/** Milliseconds between updates of a message that is being written; a screen shows no more. */
const STREAM_INTERVAL_MS = 40;

/** The session whose effects are carried out. */
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
type Streams = Pick<GenerateOptions, 'onText' | 'onRestart'>;

/** Carries out the effects of a session: asks the models, appends to the log, grades. */
export class Effects {
  /** Ratings are logged one after the other: stars right after a comment must not bring the earlier rating back. */
  private ratings: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  /** Carries out each kind of effect. */
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
      await dialogue.reply(draft.text, { ...authorOf(draft), by, milliseconds });
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
      const ask = (streams: Streams) => dialogue.simulatorReply({ signal, ...streams });
      await this.streaming(GrowingText, simulatorStream, ask);
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
      const { parts } = this;
      return { type: 'graded', grade: await dialogue.grade(await parts.grader(), parts.gradingMode, signal) };
    },
    abandon: ({ reason, message }) => this.link.abandon(reason, message),
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

  constructor(
    private readonly parts: SessionParts,
    private readonly link: DialogueLink,
    private readonly store: Store,
  ) {}

  /**
   * Resolves with what came of it, where the state has to know.
   * @param signal stops the work; absent for what is no step of it
   * @throws the error that it ended with
   */
  async carryOut(effect: Effect, signal?: AbortSignal): Promise<Result | undefined> {
    const way = this.ways[effect.type] as Way<Effect['type']>;
    return (await way(effect, signal)) as Result | undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private async askAgent(
    how: 'agentTurn' | 'anotherSample',
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const dialogue = await this.link.attached();
    const earlier = dialogue.turns.map((turn) => turnView(turn, this.parts.t));
    await this.streaming(
      AgentReading,
      (text) => agentStream(text, earlier),
      (streams) => dialogue[how]({ signal, ...streams }),
    );
    return logged(dialogue, 'agent');
  }

  /**
   * Has both agents write at once; the second is the agent itself when no other is configured. Neither message is shown
   * before both are written, because the faster model would give itself away.
   */
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

  /**
   * A dialogue that cannot be read now is shown as it was. One that has gone on here while it was read is read again,
   * because what was read may be from before that step.
   */
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

  /** Shows a message while it is written, without parsing again what is parsed already. */
  private async streaming<Text extends { push: (piece: string) => void }>(
    Begun: new () => Text,
    view: (text: Text) => StreamView,
    ask: (streams: Streams) => Promise<unknown>,
  ): Promise<void> {
    let text = new Begun();
    const show = (): void => {
      this.timer = undefined;
      void this.store.dispatch({ type: 'streamed', stream: view(text) });
    };
    try {
      await ask({
        onText: (piece) => {
          text.push(piece);
          this.timer ??= setTimeout(show, STREAM_INTERVAL_MS);
        },
        onRestart: () => (text = new Begun()),
      });
    } finally {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
  }
}

const logged = (dialogue: Dialogue, by?: 'agent'): Result => ({
  type: 'logged',
  by,
  dialogue: stepOf(dialogue),
});

function stepOf({ id, protocol, turns, candidates, answer, next }: Dialogue): Logged {
  return { episode: id, protocol, turns: [...turns], candidates, answer, next };
}

/**
 * Returns the author of a reply in the log's categories (docs/data.md). Spaces at either end do not count as an edit.
 */
export function authorOf({ text, suggestion }: Draft): Omit<DeveloperReply, 'by' | 'milliseconds'> {
  if (suggestion === undefined) return { author: 'developer' };
  const isEdited = text.trim() !== suggestion.text.trim();
  return {
    author: isEdited ? 'developer-edited-suggestion' : 'developer-sent-suggestion',
    suggestion: suggestion.text,
    suggestedBy: suggestion.by,
  };
}
