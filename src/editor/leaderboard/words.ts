import type { LeaderboardPlace, Leaderboard } from '../../core/evaluation/leaderboard/leaderboard';
import { remarks } from '../../core/evaluation/leaderboard/words';
import type { Translate } from '../translate';

/** A row of the Leaderboard: its label, the words after it, and the text for its hover and the screen reader. */
export interface LeaderboardRow {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
}

const whole = (fraction: number): string => String(Math.round(100 * fraction));

/**
 * Returns for example `61 % [48–73] · 14 won, 9 lost`: the probability that the model is chosen over the table's
 * average, and the counts.
 * @param label name that a person sees for the model
 */
export function placeRow(place: LeaderboardPlace, label: string, t: Translate): LeaderboardRow {
  const { model, choices, wins, losses, equal, neither, share, interval } = place;
  const named = label === model ? model : `${label} (${model})`;
  if (choices === 0) {
    const description = t('no comparisons yet');
    return { label, description, tooltip: `${named}\n${description}` };
  }
  const range = `${whole(interval.low)}–${whole(interval.high)}`;
  return {
    label,
    description: t('{0} % [{1}] · {2} won, {3} lost', whole(share), range, wins, losses),
    tooltip: [
      named,
      t(
        'Chosen over an average model of this table with a probability of {0} %, 95 % interval {1} %',
        whole(share),
        range,
      ),
      t('{0} choices: {1} won, {2} lost, {3} equal, {4} neither', ...[choices, wins, losses, equal, neither]),
      t('Bradley–Terry; equal and neither count as half a win for each'),
    ].join('\n'),
  };
}

/** Returns the rows needed to read the table: the number of choices, and whether the place of a candidate matters. */
export function remarkRows(standing: Leaderboard, t: Translate): LeaderboardRow[] {
  const { choices, ofOneModel, firstShown } = standing;
  const [counted = '', ...others] = remarks(standing);
  const { share, interval, decided } = firstShown;
  return [
    {
      label: choices === 1 ? t('1 choice') : t('{0} choices', choices),
      description: ofOneModel === 0 ? '' : t('{0} of one model', ofOneModel),
      tooltip: counted,
    },
    ...(share === null
      ? []
      : [
          {
            label: t('Position bias'),
            description: t(
              'first chosen {0} % [{1}–{2}] of {3}',
              whole(share),
              whole(interval.low),
              whole(interval.high),
              decided,
            ),
            tooltip: others.at(-1) ?? '',
          },
        ]),
  ];
}
