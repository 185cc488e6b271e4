import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../core/fault';
import type { DialogueRatingChange, TurnRating, TurnRatingChange } from '../../../webview/session/protocol';
import type { DialogueLink } from './link';
import type { SessionParts } from './parts';
import type { Scene } from './scene';
import type { Work } from './work';

/** What the developer thinks of a dialogue and of its turns, at any time. Nothing is logged of who has not agreed. */
export class Ratings {
  /** One after the other: stars that follow a comment at once must not bring the rating before it back. */
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly parts: SessionParts,
    private readonly link: DialogueLink,
    private readonly scene: Scene,
    private readonly work: Work,
  ) {}

  rate(change: DialogueRatingChange): Promise<void> {
    return this.log(async (by) => {
      const before = this.scene.rating;
      const { stars, comment } = { ...before, ...change };
      const rating = { ...(stars !== undefined && { stars }), ...(comment && { comment }) };
      if (isDeepStrictEqual(rating, before)) return;
      await this.link.rate({ event: 'rating', ...rating, by });
      this.scene.rating = rating;
    });
  }

  rateTurn(turn: number, change: TurnRatingChange): Promise<void> {
    const { feed } = this.scene;
    if (feed.turns.every((one) => one.turn !== turn))
      return this.refuse(`of turn ${turn}, which is not there`);
    return this.log(async (by) => {
      const before: TurnRating = feed.turns.find((one) => one.turn === turn)?.rating ?? {};
      const { thumb = 'none', comment } = { ...before, ...change };
      const rating = { ...(thumb !== 'none' && { thumb }), ...(comment && { comment }) };
      if (isDeepStrictEqual(rating, before)) return;
      await this.link.rate({ event: 'turn-rating', turn, ...rating, by });
      feed.showTurns(feed.turns.map((one) => (one.turn === turn ? { ...one, rating } : one)));
    });
  }

  private log(write: (by: string) => Promise<void>): Promise<void> {
    const by = this.parts.consent.given?.pseudonym;
    if (by === undefined) return this.refuse('before anybody has agreed to be logged');
    if (this.link.id === undefined) return this.refuse('of a dialogue that has not begun');
    this.queue = this.queue.then(() =>
      this.work.attempt(async () => {
        await this.parts.consent.record();
        await write(by);
      }),
    );
    return this.queue;
  }

  private refuse(which: string): Promise<void> {
    this.parts.report(new Fault('session/no-rating', `The view sent a rating ${which}. Nothing was done.`));
    return Promise.resolve();
  }
}
