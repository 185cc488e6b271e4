import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { collect, collectionName } from '../dialogue/collect';
import { monteCarloCredit, type CandidateValue, type CreditState } from '../evaluation/credit';
import { inFlight } from '../inFlight';
import type { Model } from '../model/model';
import { eventSchema } from '../trajectory/event';
import { ifThere, writeAtomically } from '../trajectory/files';
import { TrajectoryLog } from '../trajectory/log';
import type { Attempt } from './attemptFile';
import type { OfflineData } from './offline';
import { Pace } from './pace';
import type { Method } from './plan';
import { qualityOf, type ScoreQuality } from './quality';
import { scoresOf, type CandidateScores } from './scores';
import { drawStates, type DrawnState } from './states';
import { contentOf, digestOf, type Surroundings } from './surroundings';

/** How well each score ranks the turns that the start might take. */
export interface Credit {
  readonly scores: readonly {
    readonly name: string;
    /** On dialogues that critics were trained with, and on dialogues of tasks that they never saw. */
    readonly seen: ScoreQuality;
    readonly unseen: ScoreQuality;
  }[];
  readonly states: { readonly seen: number; readonly unseen: number };
  readonly candidates: number;
  readonly rolls: number;
  /** The largest standard error of a candidate's worth, and the mean. */
  readonly largestStandardError: number;
  readonly meanStandardError: number;
}

/** States that are rolled at the same time, each with all its candidates. */
const AT_ONCE = 4;

const UNTRAINED = 'untrained-score';

/** Judges the critics of the final attempts. What was sampled, rolled and scored before is read. */
export async function creditOf(
  final: readonly { readonly method: Method; readonly attempts: readonly Attempt[] }[],
  offline: OfflineData,
  to: Surroundings,
): Promise<Credit> {
  const { out, plan } = to;
  const { tasks: count, seed } = plan.development;
  const unseenTasks = contentOf(to.tasks({ split: 'development', count, seed }));
  const agent = to.openAgent(to.start);
  const key = digestOf(offline.digest, plan.credit, unseenTasks, plan.protocol, plan.maxTokens);
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
    const series = await scoreSeries(final, states, folder, to);
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

/** Dialogues of the start about tasks that no critic was trained with. */
async function playUnseen(log: TrajectoryLog, agent: Model, to: Surroundings): Promise<string> {
  const { plan, simulator, prompts, grader, signal } = to;
  const { development, credit, protocol, maxTokens, concurrency } = plan;
  const settings = {
    ...{ agent, simulator, prompts, protocol, seed: credit.seed },
    sampling: { temperature: 1, maxTokens },
  };
  // Twice as many as states, because not every history has candidates that differ.
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

/** Monte-Carlo values of all candidates, kept state by state. */
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

/** The scores of each method that has critics, by training seed, and the untrained one, which every critic tells. */
async function scoreSeries(
  final: readonly { readonly method: Method; readonly attempts: readonly Attempt[] }[],
  states: readonly CreditState[],
  folder: string,
  to: Surroundings,
): Promise<Series[]> {
  const series: Series[] = [];
  for (const { method, attempts } of final) {
    const scores: CandidateScores[] = [];
    for (const { critic, run } of attempts) {
      if (critic === undefined || run === undefined) continue;
      to.onProgress?.({
        done: 0,
        total: 0,
        what: `critic of ${method.name}`,
        where: 'scores the candidates',
      });
      scores.push(await scoresOf(join(to.out, critic), run, states, folder, to));
    }
    if (scores.length > 0) series.push({ name: method.name, scores, figure: 'advantage' });
  }
  // That of a critic without length normalisation is a sum.
  const untrained = series.find(({ name }) => name !== 'no-length-normalisation');
  return untrained === undefined
    ? series
    : [...series, { name: UNTRAINED, scores: untrained.scores.slice(0, 1), figure: 'untrained' }];
}
