import type { Place, Standing } from '../../core/evaluation/standing/standing';
import { remarks } from '../../core/evaluation/standing/words';

/** A row of the Standing view: what it is called, what stands behind it, and what is said when it is hovered or heard. */
export interface StandingRow {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
}

const whole = (fraction: number): string => String(Math.round(100 * fraction));

/** `61 % [48–73] · 14 won, 9 lost`: how probably it is chosen over the average of the table, and why. */
export function placeRow(place: Place): StandingRow {
  const { model, choices, wins, losses, equal, neither, share, interval } = place;
  if (choices === 0) {
    const description = 'compared with no other model';
    return { label: model, description, tooltip: `${model}\n${description}` };
  }
  const range = `${whole(interval.low)}–${whole(interval.high)}`;
  return {
    label: model,
    description: `${whole(share)} % [${range}] · ${wins} won, ${losses} lost`,
    tooltip: [
      model,
      `Chosen over an average model of this table with a probability of ${whole(share)} %, 95 % interval ${range} %`,
      `${choices} choices: ${wins} won, ${losses} lost, ${equal} equal, ${neither} of neither`,
      'Bradley–Terry; equal and neither count as half a win for each',
    ].join('\n'),
  };
}

/** What must be known to read the table: how many choices there are, and whether the place of a candidate matters. */
export function remarkRows(standing: Standing): StandingRow[] {
  const { choices, ofOneModel, firstShown } = standing;
  const [counted = '', ...others] = remarks(standing);
  const { share, interval, decided } = firstShown;
  return [
    {
      label: choices === 1 ? '1 choice' : `${choices} choices`,
      description: ofOneModel === 0 ? '' : `${ofOneModel} of one model`,
      tooltip: counted,
    },
    ...(share === null
      ? []
      : [
          {
            label: 'first shown',
            description: `${whole(share)} % [${whole(interval.low)}–${whole(interval.high)}] of ${decided}`,
            tooltip: others.at(-1) ?? '',
          },
        ]),
  ];
}
