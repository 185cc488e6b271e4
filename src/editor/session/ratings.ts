import { isDeepStrictEqual } from 'node:util';
import type { DialogueRating, TurnRating } from '../../../webview/session/protocol';
import type { DialogueLink } from './link';
import type { SessionParts } from './parts';
import type { Scene } from './scene';
import type { Work } from './work';

/** What the developer thinks of a dialogue and of its turns, at any time. Nothing is logged of who has not agreed. */
export class Ratings {
  constructor(
    private readonly parts: SessionParts,
    private readonly link: DialogueLink,
    private readonly scene: Scene,
    private readonly work: Work,
  ) {}

  async rate(rating: DialogueRating): Promise<void> {
    if (isDeepStrictEqual(rating, this.scene.rating)) return;
    await this.log(async (by) => {
      await this.link.rate({ event: 'rating', ...rating, by });
      this.scene.rating = rating;
    });
  }

  /** One message of the agent; an empty rating takes back what was said before. */
  async rateTurn(turn: number, rating: TurnRating): Promise<void> {
    const { feed } = this.scene;
    const shown = feed.turns.find((one) => one.turn === turn);
    if (shown === undefined || isDeepStrictEqual(rating, shown.rating ?? {})) return;
    await this.log(async (by) => {
      await this.link.rate({ event: 'turn-rating', turn, ...rating, by });
      feed.showTurns(feed.turns.map((one) => (one.turn === turn ? { ...one, rating } : one)));
    });
  }

  private async log(write: (by: string) => Promise<void>): Promise<void> {
    const by = this.parts.consent.given?.pseudonym;
    if (by === undefined) return;
    await this.work.attempt(async () => {
      await this.parts.consent.record();
      await write(by);
    });
  }
}
