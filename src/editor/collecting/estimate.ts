import * as vscode from 'vscode';
import { grouped } from '../../core/text';
import { costOf, type Price, type ModelUse } from '../../core/trajectory/modelUsage';
import { dollars } from '../models/modelUsage';
import { dialogues } from '../words';

const { t } = vscode.l10n;

export interface Player {
  readonly name: string;
  readonly price?: Price;
  /** In this log. */
  readonly use?: ModelUse;
  /** Its finished dialogues in the log. */
  readonly played: number;
  /** Sides that it played in these; a dialogue with itself has two. */
  readonly sides: number;
  /** Sides that it will play in each dialogue. */
  readonly plays: 1 | 2;
}

/**
 * Extrapolates from earlier dialogues; empty where no model counts tokens.
 * @param players each model once, also where it plays both sides; the rules are no model
 */
export function estimateWords(count: number, players: readonly Player[]): string {
  const unknown = players.find(({ use, sides }) => use === undefined || sides === 0);
  if (unknown !== undefined)
    return unknown.price === undefined
      ? t('Tokens are known as soon as {0} has played a dialogue: begin with a few.', unknown.name)
      : t('Tokens and cost are known as soon as {0} has played a dialogue: begin with a few.', unknown.name);
  const counted = players.map(({ use, sides, plays, price }) => ({
    use: use!,
    share: (count * plays) / sides,
    price,
  }));
  const sumOf = (of: (use: ModelUse, price: Price | undefined) => number): number =>
    counted.reduce((sum, { use, share, price }) => sum + share * of(use, price), 0);
  const prompt = sumOf(({ promptTokens }) => promptTokens);
  const completion = sumOf(({ completionTokens }) => completionTokens);
  if (prompt + completion === 0) return '';
  const cost = players.some(({ price }) => price !== undefined)
    ? sumOf((use, price) => (price === undefined ? 0 : costOf(use, price)))
    : undefined;
  const tokens = t('{0} prompt and {1} completion tokens', rounded(prompt), rounded(completion));
  const all = cost === undefined ? tokens : t('{0} for {1}', tokens, dollars(cost));
  const basis = dialogues(Math.min(...players.map(({ played }) => played)), t);
  // Messages that no server counted are missing from the sums.
  return players.some(({ use }) => use!.uncounted > 0)
    ? t('At least {0}, going by {1} in this log.', all, basis)
    : t('About {0}, going by {1} in this log.', all, basis);
}

/** An estimate has two digits. */
const rounded = (tokens: number): string => grouped(Number(tokens.toPrecision(2)));
