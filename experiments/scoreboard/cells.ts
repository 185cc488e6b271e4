import type { PackTask } from '../../src/core/dialogue/collect';
import { deriveSeed } from '../../src/core/seed';
import type { ProgramTask } from '../../src/core/task/task';
import {
  common,
  isTrained,
  type AgentMethod,
  type RunFields,
  type Setting,
  type TrainedMethod,
} from './methods';
import { INSTRUMENT, rolloutsAt } from './plan';
import { contentOf, digestOf, type Surroundings } from './surroundings';

/** One method with one setting and one seed. */
export type Player = TrainedPlayer | AgentPlayer;

export interface TrainedPlayer {
  readonly method: TrainedMethod;
  readonly setting: Setting;
  readonly seed: number;
  /** It has learned from so many rounds of its method only; from all of them by default. */
  readonly rounds?: number;
}

export interface AgentPlayer {
  readonly method: AgentMethod;
  readonly setting: Setting;
  readonly seed: number;
  /** The trained models that it uses. */
  readonly uses: readonly TrainedPlayer[];
}

/** A player on one split. */
export interface Cell {
  readonly player: Player;
  readonly split: 'development' | 'test';
}

export const isTrainedPlayer = (player: Player): player is TrainedPlayer => isTrained(player.method);

export const playerName = (player: Player): string => {
  const { method, setting, seed } = player;
  const round = isTrainedPlayer(player) && player.rounds !== undefined ? [`round ${player.rounds}`] : [];
  return [method.name, ...(setting.name === '–' ? [] : [setting.name]), `seed ${seed}`, ...round].join(', ');
};

export const roundsOf = ({ method, rounds = method.rounds ?? 1 }: TrainedPlayer): number => rounds;

/** The one that plays the tasks of its last round; undefined if the start does. */
export const roundBefore = (player: TrainedPlayer): TrainedPlayer | undefined =>
  roundsOf(player) === 1 ? undefined : { ...player, rounds: roundsOf(player) - 1 };

export const cellName = ({ player, split }: Cell): string => `${playerName(player)}, ${split}`;

/** Merges the fields of a run; later ones override earlier ones. */
export function merged(...all: readonly RunFields[]): RunFields {
  const result: Record<string, RunFields[string]> = {};
  for (const [name, value] of all.flatMap((fields) => Object.entries(fields))) {
    const before = result[name];
    result[name] = typeof value === 'object' && typeof before === 'object' ? { ...before, ...value } : value;
  }
  return result;
}

/** The configuration of a training, without paths. */
export function fieldsOf(
  { method, setting, seed }: TrainedPlayer,
  { plan, precision }: Pick<Surroundings, 'plan' | 'precision'>,
): RunFields {
  const { offline, protocol, maxTokens } = plan;
  const here = { seed, export: { onnx: [precision] }, candidates: { trajectories: offline.ranked } };
  // An online method plays as many dialogues as the others learn from, by the same rules.
  const online = {
    dialogues: offline.tasks * offline.rollouts,
    max_turns: protocol.maxTurns,
    max_new_tokens: maxTokens,
  };
  const byTheseRules: RunFields = isOnline(method)
    ? { grpo: online }
    : isPlayed(method)
      ? { critic: { max_turns: protocol.maxTurns } }
      : method.fields.method === 'archer'
        ? { archer: { max_turns: protocol.maxTurns } }
        : {};
  return merged(common, method.fields, setting.fields, here, byTheseRules);
}

/** True if its candidates are ranked by dialogues that are played after them. */
const isPlayed = ({ fields }: TrainedMethod): boolean =>
  typeof fields.critic === 'object' && ['monte-carlo', 'answer-now'].includes(fields.critic.score as string);

export const isOnline = ({ fields }: TrainedMethod): boolean => fields.method === 'grpo';

/** The dialogues of the start that a method learns from with one seed. */
export interface Draw {
  readonly seed: number;
  readonly tasks: number;
  readonly rollouts: number;
}

export function drawOf(seed: number, { offline }: Surroundings['plan'], method?: TrainedMethod): Draw {
  const rollouts = method?.rollouts ?? offline.rollouts;
  return { seed, tasks: (offline.tasks * offline.rollouts) / rollouts, rollouts };
}

/** Tasks of the training split that a seed collects its dialogues about: others than those of another seed. */
export const trainTasks = (
  { seed, tasks: count }: Draw,
  { plan, tasks }: Surroundings,
): readonly PackTask<ProgramTask>[] => tasks({ split: 'train', count, seed: offlineSeed(seed, plan) });

export const offlineSeed = (seed: number, { offline }: Surroundings['plan']): number =>
  deriveSeed(offline.seed, seed);

export const splitTasks = (
  split: Cell['split'],
  { plan, tasks }: Surroundings,
): readonly PackTask<ProgramTask>[] => tasks({ split, count: plan[split].tasks, seed: plan[split].seed });

/** Digest of everything that drawn dialogues depend on. Like all keys it is the same on every machine. */
export const offlineKey = (draw: Draw, to: Surroundings): string =>
  digestOf(...rulesOf(to), draw.rollouts, offlineSeed(draw.seed, to.plan), contentOf(trainTasks(draw, to)));

/** Digest of everything that the dialogues of a player depend on; later rounds depend on its own training, too. */
export function dataKey(player: TrainedPlayer, to: Surroundings): string {
  const drawn = offlineKey(playerDraw(player, to), to);
  const { rounds } = player.method;
  return rounds === undefined ? drawn : digestOf(drawn, rounds, fieldsOf(player, to));
}

/** Digest of everything that a trained model depends on. */
export const trainingKey = (player: TrainedPlayer, to: Surroundings): string =>
  player.rounds === undefined
    ? digestOf(dataKey(player, to), fieldsOf(player, to))
    : digestOf(dataKey(player, to), fieldsOf(player, to), player.rounds);

export const playerDraw = ({ seed, method }: TrainedPlayer, { plan }: Surroundings): Draw =>
  drawOf(seed, plan, method);

/** Digest of everything that a player depends on. */
export function playerKey(player: Player, to: Surroundings): string {
  if (isTrainedPlayer(player)) return trainingKey(player, to);
  const { method, setting, uses } = player;
  const placeholders = {
    start: '<start>',
    model: (name: string) => `<model of ${name}>`,
    critic: (name: string) => `<critic of ${name}>`,
  };
  return digestOf(
    ...rulesOf(to),
    method.agent(placeholders, setting.fields),
    uses.map((used) => trainingKey(used, to)),
  );
}

/** Digest of everything that a row depends on. */
export function rowKey({ player, split }: Cell, temperature: number, to: Surroundings): string {
  return digestOf(
    ...[playerKey(player, to), split, contentOf(splitTasks(split, to))],
    ...[evaluationSeed(split, player.seed, to), temperature, rolloutsAt(to.plan[split], temperature)],
  );
}

const rulesOf = ({ plan, start, precision, simulator, prompts }: Surroundings): readonly unknown[] => [
  ...[INSTRUMENT, start.fingerprint, precision, plan.protocol, plan.maxTokens],
  ...[simulator.name, simulator.fingerprint, prompts.versions],
];

/**
 * Equal for all methods, so that they are paired; different for each training seed, so that chance averages out.
 */
export const evaluationSeed = (split: Cell['split'], seed: number, { plan }: Surroundings): number =>
  deriveSeed(plan[split].seed, split, seed);
