import { percent } from '../words';
import type { LeaderboardPlace, Leaderboard } from './leaderboard';

/** `61.0 % [48.2, 72.9]`, or a dash for a model that was compared with no other. */
export function shareWords({ share, interval, choices }: LeaderboardPlace): string {
  if (choices === 0) return '–';
  return `${percent(share)} [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
}

/** Caveats to the table, one sentence each. */
export function remarks({ places, groups, choices, ofOneModel, firstShown }: Leaderboard): string[] {
  const { decided, share, interval } = firstShown;
  return [
    `${counted(choices, 'choice')}${ofOneModel === 0 ? '' : `, of which ${ofOneModel} between two messages of one model, which rank nothing`}.`,
    ...(groups > 1 && places.some((place) => place.choices > 0)
      ? [
          'No choices connect the groups, not even by way of other models: places can be compared within a group only.',
        ]
      : []),
    ...(share === null
      ? []
      : [
          `Position bias: first chosen in ${percent(share)} [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}] of ${counted(decided, 'decided choice')}; ${bias(interval)}.`,
        ]),
  ];
}

function bias({ low, high }: { readonly low: number; readonly high: number }): string {
  if (low > 0.5) return 'people favour the first';
  return high < 0.5 ? 'people favour the second' : 'no sign that the place matters';
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
