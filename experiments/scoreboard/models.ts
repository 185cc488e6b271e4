import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packLine } from '../../src/core/task/own';
import { parseConfiguration, type RunConfiguration } from '../../src/core/training/configuration';
import { writeAtomically } from '../../src/core/trajectory/files';
import {
  dataKey,
  fieldsOf,
  isOnline,
  isTrainedPlayer,
  merged,
  offlineKey,
  playerDraw,
  playerName,
  roundBefore,
  roundsOf,
  trainingKey,
  trainTasks,
  type Draw,
  type Player,
  type TrainedPlayer,
} from './cells';
import { collectOffline, type OfflineData, type OfflineOptions } from './offline';
import type { Costs } from './rows';
import type { Surroundings, TrainedModel } from './surroundings';

/** An agent as on the command line, and what it needed before it could play. */
interface PlayingAgent {
  readonly name: string;
  readonly costs: Costs;
}

type OnWhere = (where: string) => void;

/** Collects the dialogues of seeds and trains models, each once, when a cell first needs them. */
export class Models {
  private readonly offline = new Map<string, Promise<OfflineData>>();
  private readonly trained = new Map<string, Promise<TrainedModel>>();

  constructor(private readonly to: Surroundings) {}

  async agentOf(player: Player, onWhere: OnWhere): Promise<PlayingAgent> {
    if (isTrainedPlayer(player)) {
      const { model } = await this.train(player, onWhere);
      return { name: `local:${model}`, costs: await this.costsOf([player], onWhere) };
    }
    const { method, setting, uses } = player;
    const models = new Map<string, TrainedModel>();
    for (const used of uses) models.set(used.method.name, await this.train(used, onWhere));
    const of = (name: string): TrainedModel => {
      const model = models.get(name);
      if (model === undefined) throw new Error(`${method.name} does not list ${name} among what it uses.`);
      return model;
    };
    const criticOf = (name: string): string => {
      const { critic } = of(name);
      if (critic === undefined) throw new Error(`${method.name} uses a critic of ${name}, which has none.`);
      return critic;
    };
    const name = method.agent(
      { start: this.to.start.name, model: (used) => of(used).model, critic: criticOf },
      setting.fields,
    );
    return { name, costs: await this.costsOf(uses, onWhere) };
  }

  /** Trains the model, or finds the run of an earlier call. */
  train(player: TrainedPlayer, onWhere: OnWhere): Promise<TrainedModel> {
    const { to } = this;
    const key = trainingKey(player, to);
    return once(this.trained, key, async () => {
      const data = await this.configuredData(player, onWhere);
      return to.train({
        configuration: await configurationOf(player, data, to),
        ...{ key, name: playerName(player), signal: to.signal },
        onProgress: (progress) => onWhere(inWords(progress)),
      });
    });
  }

  /** The field `data` of a run: the seed's dialogues, or for an online method their tasks. */
  private async configuredData(player: TrainedPlayer, onWhere: OnWhere): Promise<Record<string, unknown>> {
    if (isOnline(player.method)) return { tasks: [await trainPack(playerDraw(player, this.to), this.to)] };
    const { log, collection } = await this.dataOf(player, onWhere);
    return { log, filter: { collection } };
  }

  /** The dialogues that a player learns from; collected if they are not there. */
  async dataOf(player: TrainedPlayer, onWhere: OnWhere): Promise<OfflineData> {
    const draw = playerDraw(player, this.to);
    const rounds = player.method.rounds ?? 1;
    const before = roundBefore(player);
    const untilRound = (round: number): number => Math.round((draw.tasks * round) / rounds);
    return this.collected(
      {
        ...{ draw, key: dataKey(player, this.to) },
        agent: before ? `local:${(await this.train(before, onWhere)).model}` : this.to.start.name,
        ...{ first: untilRound(roundsOf(player) - 1), end: untilRound(roundsOf(player)) },
      },
      onWhere,
    );
  }

  /** Drawn dialogues of the start. */
  startDialogues(draw: Draw, onWhere: OnWhere): Promise<OfflineData> {
    const { start } = this.to;
    const key = offlineKey(draw, this.to);
    return this.collected({ draw, key, agent: start.name, first: 0, end: draw.tasks }, onWhere);
  }

  private collected(what: Omit<OfflineOptions, 'onProgress'>, onWhere: OnWhere): Promise<OfflineData> {
    return once(this.offline, `${what.key}, ${what.end}`, () => {
      const onProgress: OfflineOptions['onProgress'] = ({ done, total }) =>
        onWhere(`collects dialogues ${done}/${total}`);
      return collectOffline({ ...what, onProgress }, this.to);
    });
  }

  /** Dialogues that several models learn from count once. */
  private async costsOf(players: readonly TrainedPlayer[], onWhere: OnWhere): Promise<Costs> {
    const total: Costs = { collected: 0, played: 0, sampled: 0, trained: 0, minutes: 0 };
    for (const player of players.flatMap(withRoundsBefore)) {
      const { costs } = await this.train(player, onWhere);
      for (const name of ['played', 'sampled', 'trained', 'minutes'] as const) total[name] += costs[name];
    }
    const learning = players.filter(({ method }) => !isOnline(method));
    const byData = new Map(learning.map((player) => [dataKey(player, this.to), player]));
    for (const player of byData.values()) {
      const { dialogues, tokens } = await this.dataOf(player, onWhere);
      total.collected += dialogues;
      total.sampled += tokens;
    }
    return total;
  }
}

function withRoundsBefore(player: TrainedPlayer): TrainedPlayer[] {
  const before = roundBefore(player);
  return [...(before === undefined ? [] : withRoundsBefore(before)), player];
}

/** A failure is not kept, so that the cell can be tried again. */
function once<T>(kept: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const before = kept.get(key);
  if (before !== undefined) return before;
  const made = make();
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

/** Returns the full configuration, with the paths that are not part of the identity. */
async function configurationOf(
  player: TrainedPlayer,
  data: Record<string, unknown>,
  to: Surroundings,
): Promise<RunConfiguration> {
  const { start, out } = to;
  // Runs with the same start and dialogues share log-probabilities of the reference, candidates of a seed, critics.
  const shared = join(out, 'shared', dataKey(player, to));
  await mkdir(shared, { recursive: true });
  const where = {
    model: { base: start.folder },
    data,
    resources: { shared },
  };
  return parseConfiguration(merged(fieldsOf(player, to), where), { from: playerName(player), folder: out });
}

/** Writes the drawn tasks as a pack, which an online method plays; returns its file. */
async function trainPack(draw: Draw, to: Surroundings): Promise<string> {
  const file = join(to.out, `train-${draw.seed}-${offlineKey(draw, to)}.jsonl`);
  const text = trainTasks(draw, to)
    .map(({ task }) => packLine(task))
    .join('');
  await writeAtomically(file, (handle) => handle.writeFile(text));
  return file;
}

type TrainingProgress = Parameters<Parameters<Surroundings['train']>[0]['onProgress']>[0];

function inWords(told: TrainingProgress): string {
  if ('preparing' in told) return told.preparing;
  const { stage = told.progress.state, step, steps, part } = told.progress;
  if (part !== undefined) return `${stage}, ${part.name} ${part.done}/${part.total}`;
  return step === undefined ? stage : `${stage} ${step}/${steps ?? '?'}`;
}
