import { costOf, type Price } from '../../core/trajectory/cost';
import type { ModelUse } from '../../core/trajectory/use';
import { dollars } from '../models/use';
import { dialogues } from '../trajectories/words';
import type { Translate } from '../translate';

/** A model that will play, and what it has cost so far. */
export interface Player {
  /** As a person calls it. */
  readonly name: string;
  readonly price?: Price;
  /** What it has written in this log. */
  readonly use?: ModelUse;
  /** Dialogues in the log in which it took part. */
  readonly played: number;
}

/**
 * What so many dialogues will cost, by what those before cost; empty where no model has a price.
 * @param players each model once, also where it plays both sides
 */
export function costWords(count: number, players: readonly Player[], t: Translate): string {
  const priced = players.filter(({ price }) => price !== undefined);
  if (priced.length === 0) return '';
  const unknown = priced.find(({ use, played }) => use === undefined || played === 0);
  if (unknown !== undefined)
    return t('What it costs is known as soon as {0} has played a dialogue: begin with a few.', unknown.name);
  const sum = priced.reduce(
    (total, { price, use, played }) => total + (count * costOf(use!, price!)) / played,
    0,
  );
  const basis = Math.min(...priced.map(({ played }) => played));
  return t('Costs about {0}, by {1} in this log.', dollars(sum), dialogues(basis, t));
}
