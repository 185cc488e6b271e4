import type { Leaderboard, LeaderboardPlace } from '../leaderboard/leaderboard';
import type { Figure, Interval } from '../interval';
import { estimate } from '../words';
import { ASK_F1, COUNT, field, FRACTION, number, t, tableOf, type Sentence, type Table } from './table';

/** @param askF1 of the dialogues that a model played alone, by its name */
export const leaderboardTable = (
  { places, groups }: Leaderboard,
  askF1: ReadonlyMap<string, Figure>,
): Table =>
  tableOf<LeaderboardPlace>(
    {
      name: 'Leaderboard',
      head: 'Model',
      note: 'In brackets: 95 % intervals. Equal and neither count as half a win for each.',
    },
    [
      field('group', 'Group', ({ group }) => (groups > 1 ? number(group + 1) : null), GROUP),
      field(
        'share',
        'Chosen over the average',
        ({ share, interval, choices }) => (choices === 0 ? null : { value: share, interval }),
        FRACTION,
      ),
      field('choices', 'Choices', ({ choices }) => number(choices), COUNT),
      field('wins', 'Won', ({ wins }) => number(wins), COUNT),
      field('losses', 'Lost', ({ losses }) => number(losses), COUNT),
      field('equal', 'Equal', ({ equal }) => number(equal), COUNT),
      field('neither', 'Neither', ({ neither }) => number(neither), COUNT),
      field('ask_f1', 'Ask-F1', ({ model }) => askF1.get(model) ?? null, { ...ASK_F1, isOptional: true }),
    ],
    places,
    ({ model }) => ({ name: model }),
  );

const GROUP = { ...COUNT, isOptional: true };

/** Caveats to the table. */
export function leaderboardNotes(found: Leaderboard): Sentence[] {
  const { choices, ofOneModel, groups, places } = found;
  const { decided, share, interval } = found.firstShown;
  const ranking = t(
    'Choices: {0}, of which {1} between two messages of one model, which rank nothing.',
    choices,
    ofOneModel,
  );
  return [
    ofOneModel === 0 ? t('Choices: {0}.', choices) : ranking,
    ...(groups > 1 && places.some((place) => place.choices > 0)
      ? [
          t(
            'No choices connect the groups, not even by way of other models: places can be compared within a group only.',
          ),
        ]
      : []),
    ...(share === null
      ? []
      : [
          t(
            'Position bias: first chosen in {0}, n = {1}; {2}.',
            estimate({ mean: share, interval }),
            decided,
            biasIn(interval),
          ),
        ]),
  ];
}

function biasIn({ low, high }: Interval): Sentence {
  if (low > 0.5) return t('people favour the first');
  return high < 0.5 ? t('people favour the second') : t('no sign that the place matters');
}
