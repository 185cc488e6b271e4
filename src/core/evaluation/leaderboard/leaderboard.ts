import type { Picked } from '../../trajectory/event';
import { wilson, Z95, type Interval } from '../interval';
import { fitBradleyTerry, winProbability, type Games } from './bradleyTerry';
import { choicesOf, isOver, type Trajectory } from '../../trajectory/trajectory';
import type { TrajectoryLog } from '../../trajectory/log';
import { EpisodeCache } from '../episodeCache';

/** The authors of the first and the second candidate shown, and the pick. */
export interface Judgement {
  readonly agents: readonly [string, string];
  readonly picked: Picked;
}

/** Counts are of choices between a message of this model and one of another model. */
export interface LeaderboardPlace {
  readonly model: string;
  readonly choices: number;
  readonly wins: number;
  readonly losses: number;
  /** Choices that called both equally good. */
  readonly equal: number;
  /** Choices that called both too bad to continue with. */
  readonly neither: number;
  /**
   * Natural logarithm of the Bradley–Terry strength against the mean of the models of its group; a meaningless 0 for a
   * model that is alone in its group.
   */
  readonly strength: number;
  /** Probability, 0 to 1, of being chosen over a model of mean strength, with its interval. */
  readonly share: number;
  readonly interval: Interval;
  /** Index of the group, the largest first. Models of different groups were never compared, not even indirectly. */
  readonly group: number;
}

export interface Leaderboard {
  /** Group by group, from the strongest model to the weakest. */
  readonly places: readonly LeaderboardPlace[];
  readonly groups: number;
  /** Including choices between two messages of one model. */
  readonly choices: number;
  readonly ofOneModel: number;
  readonly equal: number;
  readonly neither: number;
  /** Choices for one of the two; the share for the first shown is one half without a position bias. */
  readonly firstShown: {
    readonly decided: number;
    readonly share: number | null;
    readonly interval: Interval;
  };
}

/**
 * Bradley–Terry strengths, in which `equal` and `neither` are ties, with 95 % intervals by the normal approximation to
 * the likelihood's curvature (Wald). Choices count as independent of each other.
 */
export function leaderboardOf(choices: readonly Judgement[]): Leaderboard {
  const names = [...new Set(choices.flatMap(({ agents }) => agents))].sort();
  const pairings = pairingsOf(choices, names);
  const { strengths, covariance } = fitBradleyTerry(names.length, pairings);
  const groups = groupsOf(names.length, pairings);
  const places = groups.flatMap((members, group) => {
    const mean = members.reduce((sum, member) => sum + strengths[member]!, 0) / members.length;
    const ranked = members.toSorted((a, b) => strengths[b]! - strengths[a]!);
    return ranked.map((member): LeaderboardPlace => {
      const strength = strengths[member]! - mean;
      const half = Z95 * Math.sqrt(varianceAgainstMean(covariance, member, members));
      const interval = { low: winProbability(strength - half), high: winProbability(strength + half) };
      const share = winProbability(strength);
      return {
        model: names[member]!,
        ...countsOf(choices, names[member]!),
        strength,
        share,
        interval,
        group,
      };
    });
  });
  const picks = choices.map(({ picked }) => picked);
  const decided = picks.filter((picked) => picked === 0 || picked === 1);
  const first = decided.length === 0 ? 0 : decided.filter((picked) => picked === 0).length / decided.length;
  return {
    places,
    groups: groups.length,
    choices: choices.length,
    ofOneModel: choices.filter(isOfOneModel).length,
    equal: picks.filter((picked) => picked === 'equal').length,
    neither: picks.filter((picked) => picked === 'neither').length,
    firstShown: {
      decided: decided.length,
      share: decided.length === 0 ? null : first,
      interval: wilson(first, decided.length),
    },
  };
}

const isOfOneModel = ({ agents }: Judgement): boolean => agents[0] === agents[1];

function scoreOf({ picked }: Judgement, place: 0 | 1): number {
  if (picked === 'equal' || picked === 'neither') return 0.5;
  return picked === place ? 1 : 0;
}

function pairingsOf(choices: readonly Judgement[], names: readonly string[]): Games[] {
  const number = new Map(names.map((name, index) => [name, index]));
  const pairings = new Map<string, { players: [number, number]; games: number; score: number }>();
  for (const choice of choices) {
    if (isOfOneModel(choice)) continue;
    const [a, b] = choice.agents.map((name) => number.get(name)!) as [number, number];
    const players: [number, number] = a < b ? [a, b] : [b, a];
    const key = players.join('/');
    const pairing = pairings.get(key) ?? { players, games: 0, score: 0 };
    pairing.games += 1;
    pairing.score += scoreOf(choice, a < b ? 0 : 1);
    pairings.set(key, pairing);
  }
  return [...pairings.values()];
}

/** Players that games connect, directly or indirectly; the largest group first. */
function groupsOf(players: number, pairings: readonly Games[]): number[][] {
  const label = Array.from({ length: players }, (_, player) => player);
  for (const { players: pair } of pairings) {
    const [from, to] = [label[pair[0]]!, label[pair[1]]!];
    for (const [player, known] of label.entries()) if (known === from) label[player] = to;
  }
  const groups = Map.groupBy(label.keys(), (player) => label[player]!);
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

/** Variance of the difference between a player's strength and the mean of the members'. */
function varianceAgainstMean(
  covariance: readonly (readonly number[])[],
  player: number,
  members: readonly number[],
): number {
  const weight = (member: number): number => (member === player ? 1 : 0) - 1 / members.length;
  let sum = 0;
  for (const a of members) for (const b of members) sum += weight(a) * weight(b) * covariance[a]![b]!;
  return Math.max(0, sum);
}

function countsOf(
  choices: readonly Judgement[],
  model: string,
): Pick<LeaderboardPlace, 'choices' | 'wins' | 'losses' | 'equal' | 'neither'> {
  const of = choices.filter((choice) => !isOfOneModel(choice) && choice.agents.includes(model));
  const picks = of.map(({ agents, picked }) => {
    if (picked === 'equal' || picked === 'neither') return picked;
    return agents[picked] === model ? 'win' : 'loss';
  });
  const count = (what: (typeof picks)[number]): number => picks.filter((pick) => pick === what).length;
  return {
    choices: of.length,
    wins: count('win'),
    losses: count('loss'),
    equal: count('equal'),
    neither: count('neither'),
  };
}

export class Judgements extends EpisodeCache<readonly Judgement[]> {
  protected override read(trajectory: Trajectory): Judgement[] {
    return choicesOf(trajectory).map(({ shown, choice }) => {
      const [first, second] = shown.candidates;
      return { agents: [first.agent, second.agent], picked: choice.picked };
    });
  }

  /**
   * Only of dialogues that are over or were skipped, the oldest first. From dialogues in play, a person could see who
   * wrote the chosen candidate.
   */
  async of(log: TrajectoryLog): Promise<Judgement[]> {
    const everything = { sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY } as const;
    const { rows } = log.list({ filter: { chosen: true }, ...everything });
    const over = rows.filter(({ state, abandoned }) => isOver(state, abandoned));
    const read = await this.readAll(
      log,
      over.map(({ id }) => id),
    );
    return [...read.values()].flat();
  }
}
