import type { Place, Standing } from '../../core/evaluation/standing/standing';
import { remarks } from '../../core/evaluation/standing/words';
import type { Translate } from '../translate';

/** A row of the Standing view: what it is called, what stands behind it, and what is said when it is hovered or heard. */
export interface StandingRow {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
}

const whole = (fraction: number): string => String(Math.round(100 * fraction));

/**
 * `61 % [48–73] · 14 won, 9 lost`: how probably it is chosen over the average of the table, and why.
 * @param label what a person calls the model
 */
export function placeRow(place: Place, label: string, t: Translate): StandingRow {
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

/** What must be known to read the table: how many choices there are, and whether the place of a candidate matters. */
export function remarkRows(standing: Standing, t: Translate): StandingRow[] {
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
