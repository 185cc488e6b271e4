import * as vscode from 'vscode';
import type { LeaderboardPlace, Leaderboard } from '../../core/evaluation/leaderboard/leaderboard';
import { leaderboardNotes } from '../../core/evaluation/report/leaderboard';
import { inWords } from '../../core/evaluation/report/table';
import type { Namer } from '../displayNames';

const { t, t: translate } = vscode.l10n;

/** The leaderboard, a group of its models, or one of its figures. */
export interface RankingRow {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: string;
  readonly below?: readonly RankingRow[];
}

const whole = (fraction: number): string => String(Math.round(100 * fraction));

/** Strongest first; undefined without any choice. */
export function leaderboardRow(found: Leaderboard, namer: Namer, log?: string): RankingRow | undefined {
  const { choices, ofOneModel } = found;
  if (choices === 0) return undefined;
  return {
    label: t('Leaderboard'),
    description: [
      ...(log === undefined ? [] : [log]),
      choices === 1 ? t('1 choice') : t('{0} choices', choices),
      ...(ofOneModel === 0 ? [] : [t('{0} of one model', ofOneModel)]),
    ].join(' · '),
    tooltip: [
      t('Models ranked by which of two candidates people chose in finished dialogues'),
      ...notesOf(found).slice(0, 1),
    ].join('\n'),
    icon: 'list-ordered',
    below: [...placeRows(found, namer), ...biasRows(found)],
  };
}

const notesOf = (found: Leaderboard): string[] =>
  leaderboardNotes(found).map((note) => inWords(note, translate));

/** Models that no choices connect are not compared: they form groups. */
function placeRows({ places, groups }: Leaderboard, namer: Namer): RankingRow[] {
  const rowOf = (place: LeaderboardPlace): RankingRow => placeRow(place, namer.calledBy(place.model));
  if (groups === 1) return places.map(rowOf);
  return [...Map.groupBy(places, ({ group }) => group)].map(([group, members]) => ({
    label: t('Group {0}', group + 1),
    description: t('{0} of its own, not compared with the others', members.length),
    tooltip: '',
    icon: 'list-tree',
    below: members.map(rowOf),
  }));
}

/** `61 % [48–73] · 14 won, 9 lost`: the probability of being chosen over the average, and the counts. */
function placeRow(place: LeaderboardPlace, label: string): RankingRow {
  const { model, choices, wins, losses, equal, neither, share, interval } = place;
  const named = label === model ? model : `${label} (${model})`;
  if (choices === 0) {
    const description = t('no comparisons yet');
    return { label, description, tooltip: `${named}\n${description}`, icon: 'hubot' };
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
    icon: 'hubot',
  };
}

function biasRows(found: Leaderboard): RankingRow[] {
  const { share, interval, decided } = found.firstShown;
  if (share === null) return [];
  return [
    {
      label: t('Position bias'),
      description: t(
        'first chosen {0} % [{1}–{2}] of {3}',
        whole(share),
        whole(interval.low),
        whole(interval.high),
        decided,
      ),
      tooltip: notesOf(found).at(-1)!,
      icon: 'info',
    },
  ];
}
