import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { collect, collectionName } from '../../src/core/dialogue/collect';
import { inFlight } from '../../src/core/concurrency';
import type { Model } from '../../src/core/model/model';
import { eventSchema } from '../../src/core/trajectory/event';
import { ifThere, writeAtomically } from '../../src/core/trajectory/files';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { drawOf, offlineKey, trainingKey, type TrainedPlayer } from './cells';
import type { Models } from './models';
import { Pace } from './pace';
import { qualityOf, type ScoreQuality } from './quality';
import { scoresOf, type CandidateScores } from './scores';
import { drawStates, type DrawnState } from './states';
import { contentOf, digestOf, type Surroundings } from './surroundings';
import { monteCarloCredit, type CandidateValue, type CreditState } from './monteCarloCredit';

/** Quality of each score as a ranking of turns that the start model might take. */
export interface Credit {
  readonly scores: readonly {
    readonly name: string;
    /** Quality on dialogues with which critics were trained, and on dialogues about tasks that they never saw. */
    readonly seen: ScoreQuality;
    readonly unseen: ScoreQuality;
  }[];
  readonly states: { readonly seen: number; readonly unseen: number };
  readonly candidates: number;
  readonly rolls: number;
  /** The largest standard error of a candidate's value, and the mean. */
  readonly largestStandardError: number;
  readonly meanStandardError: number;
}

/** Number of states rolled out at one time, each with all its candidates. */
const AT_ONCE = 4;

const UNTRAINED = 'untrained-score';

/**
 * Judges the critics of players of one seed, which learned from the same dialogues. Samples, rollouts and scores of an
 * earlier call are read from files.
 */
export async function creditOf(
  players: readonly TrainedPlayer[],
  models: Models,
  to: Surroundings,
): Promise<Credit> {
  const { out, plan } = to;
  const { tasks: count, seed } = plan.development;
  const unseenTasks = contentOf(to.tasks({ split: 'development', count, seed }));
  const trainingSeed = players[0]?.seed ?? plan.seeds[0]!;
  const onWhere = (where: string): void =>
    to.onProgress?.({ done: 0, total: 0, what: `seed ${trainingSeed}`, where });
  const draw = drawOf(trainingSeed, plan);
  const offline = await models.startDialogues(draw, onWhere);
  const agent = to.openAgent(to.start.name);
  const key = digestOf(offlineKey(draw, to), plan.credit, unseenTasks, plan.protocol, plan.maxTokens);
  const folder = join(out, 'credit', key);
  const logs: TrajectoryLog[] = [];
  try {
    const seenLog = await TrajectoryLog.open(offline.log);
    const unseenLog = await TrajectoryLog.open(join(out, 'credit'));
    logs.push(seenLog, unseenLog);
    const unseenCollection = await playUnseen(unseenLog, agent, to);
    const seen = await statesOf(join(folder, 'seen.json'), seenLog, offline.collection, agent, to);
    const unseen = await statesOf(join(folder, 'unseen.json'), unseenLog, unseenCollection, agent, to);
    const states = [...seen, ...unseen];
    const worth = await worthOf(states, folder, agent, to);
    const series = await scoreSeries(players, models, states, folder, to);
    const judged = (of: CandidateScores[], figure: keyof CandidateScores, from: number, until: number) =>
      qualityOf(
        worth.slice(from, until).map((values, i) => ({
          worth: values,
          scores: of.map((scores) => scores[figure][from + i]!),
        })),
        plan.credit.seed,
      );
    const errors = worth.flat().map(({ standardError }) => standardError);
    return {
      scores: series.map(({ name, scores, figure }) => ({
        name,
        seen: judged(scores, figure, 0, seen.length),
        unseen: judged(scores, figure, seen.length, states.length),
      })),
      states: { seen: seen.length, unseen: unseen.length },
      candidates: errors.length,
      rolls: worth.flat().reduce((sum, { rolls }) => sum + rolls, 0),
      largestStandardError: Math.max(0, ...errors),
      meanStandardError: errors.reduce((sum, error) => sum + error, 0) / Math.max(1, errors.length),
    };
  } finally {
    await agent.close?.();
    for (const log of logs) await log.close();
  }
}

/** Plays dialogues of the start model about tasks with which no critic was trained. */
async function playUnseen(log: TrajectoryLog, agent: Model, to: Surroundings): Promise<string> {
  const { plan, simulator, prompts, grader, signal } = to;
  const { development, credit, protocol, maxTokens, concurrency } = plan;
  const settings = {
    ...{ agent, simulator, prompts, protocol, seed: credit.seed },
    sampling: { temperature: 1, maxTokens },
  };
  // The factor 2 is needed because not every history has candidates that differ.
  const count = Math.min(development.tasks, 2 * credit.states);
  const tasks = to.tasks({ split: 'development', count, seed: development.seed });
  const collection = `${collectionName('credit', settings)}-${contentOf(tasks)}`;
  await collect({
    ...{ ...settings, log, grader, concurrency, signal, rollouts: 1, mode: 'fixed', collection },
    tasks,
  });
  return collection;
}

const drawnSchema: z.ZodType<DrawnState[]> = z.array(
  z.object({
    id: z.string(),
    episode: z.string(),
    turn: z.number(),
    candidates: z
      .array(eventSchema)
      .transform((events) => events.filter((event) => event.event === 'agent-turn')),
  }),
);

async function statesOf(
  file: string,
  log: TrajectoryLog,
  collection: string,
  agent: Model,
  to: Surroundings,
): Promise<CreditState[]> {
  const text = await ifThere(() => readFile(file, 'utf8'));
  const drawn =
    text === undefined ? await drawStates(log, collection, agent, to) : drawnSchema.parse(JSON.parse(text));
  if (text === undefined) await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify(drawn)));
  const states: CreditState[] = [];
  for (const { id, episode, turn, candidates } of drawn) {
    const trajectory = await log.trajectory(episode);
    if (trajectory !== undefined) {
      states.push({ id, trajectory, history: trajectory.turns.slice(0, turn), candidates });
    }
  }
  return states;
}

const worthSchema = z.array(
  z.object({ success: z.number(), reward: z.number(), standardError: z.number(), rolls: z.number() }),
);

/** Computes Monte-Carlo values of all candidates; each state's are stored in a file. */
async function worthOf(
  states: readonly CreditState[],
  folder: string,
  agent: Model,
  to: Surroundings,
): Promise<CandidateValue[][]> {
  const { plan, simulator, prompts, grader, signal } = to;
  const { standardError, mostRolls, seed } = plan.credit;
  const values = new Map<string, CandidateValue[]>();
  const pace = new Pace(states.length, AT_ONCE, (told) => to.onProgress?.(told));
  await inFlight(states, AT_ONCE, async (state) => {
    signal?.throwIfAborted();
    const file = join(folder, 'worth', `${state.id}.json`);
    const text = await ifThere(() => readFile(file, 'utf8'));
    const name = `Monte-Carlo credit, state ${state.id}`;
    if (text === undefined) pace.where(name, 'plays on');
    const worth =
      text === undefined
        ? await monteCarloCredit(state, {
            ...{ agent, simulator, prompts, grader, signal, seed, standardError, mostRolls },
            ...{ mode: 'fixed', sampling: { temperature: 1, maxTokens: plan.maxTokens } },
          })
        : worthSchema.parse(JSON.parse(text));
    if (text === undefined) await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify(worth)));
    values.set(state.id, worth);
    const rolls = worth.reduce((sum, one) => sum + one.rolls, 0);
    pace.finished(name, `${rolls} dialogues played`);
  });
  return states.map(({ id }) => values.get(id)!);
}

interface Series {
  readonly name: string;
  readonly scores: CandidateScores[];
  readonly figure: keyof CandidateScores;
}

/** Returns the scores of each method with a critic, and the untrained baseline, which every critic reports. */
async function scoreSeries(
  players: readonly TrainedPlayer[],
  models: Models,
  states: readonly CreditState[],
  folder: string,
  to: Surroundings,
): Promise<Series[]> {
  const series: Series[] = [];
  for (const player of players) {
    const { name } = player.method;
    const what = `critic of ${name}`;
    const { critic } = await models.train(player, (where) =>
      to.onProgress?.({ done: 0, total: 0, what, where }),
    );
    if (critic === undefined) continue;
    to.onProgress?.({ done: 0, total: 0, what, where: 'scores the candidates' });
    const scores = [await scoresOf(critic, trainingKey(player, to), states, folder, to)];
    series.push({ name, scores, figure: 'advantage' });
  }
  // A critic without length normalisation reports sums, which are not comparable.
  const untrained = series.find(({ name }) => name !== 'no-length-normalisation');
  return untrained === undefined
    ? series
    : [...series, { name: UNTRAINED, scores: untrained.scores, figure: 'untrained' }];
}
