import * as vscode from 'vscode';
import type { Model } from '../../core/model/model';
import type { Credit } from '../../core/training/credit/credit';
import type { Critic, CriticPlace } from '../../core/training/credit/critics';
import type { HistoryValue } from '../../core/training/credit/playedCredit';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import type { Report } from '../progress';

const { t } = vscode.l10n;

/** Credit without a critic, by models as the settings name them. */
export interface PlayedBy {
  readonly kind: HistoryValue['kind'];
  readonly agent: string;
  /** Of rollouts. */
  readonly simulator?: string;
}

/** What gives the credit that replays show: a critic, or without a folder `by`. */
export interface CreditPlace extends CriticPlace {
  readonly by?: PlayedBy;
}

/** Answers, or dialogues, for each history; the command line has the same default. */
const SAMPLES = 8;
const AT_ONCE = 16;

export interface OfferedPlay extends CreditPlace {
  readonly by: PlayedBy;
  readonly about: string;
}

/** Those that the settings allow: both need an agent, rollouts a simulator, too. */
export function offeredPlay(engine: Engine): OfferedPlay[] {
  const { agentName: agent, simulatorName: simulator } = engine;
  if (agent === '') return [];
  const name = engine.calledBy(agent);
  const answerNow: OfferedPlay = {
    ...{ folder: '', name: t('answer-now by {0}', name), by: { kind: 'answer-now', agent } },
    about: t('How much better the answers get that {0} is forced to give after each turn', name),
  };
  if (simulator === '') return [answerNow];
  const replies = engine.calledBy(simulator);
  const rollouts: OfferedPlay = {
    ...{ folder: '', name: t('rollouts by {0} and {1}', name, replies) },
    by: { kind: 'rollouts', agent, simulator },
    about: t(
      'Plays each history to its end {0} times; {1} replies, also in place of a person',
      SAMPLES,
      replies,
    ),
  };
  return [answerNow, rollouts];
}

/** Opens no model, so that kept credit is shown at once, and in workspaces that are not trusted. */
export async function identityIn(
  engine: Engine,
  { kind, agent, simulator }: PlayedBy,
): Promise<Pick<Critic, 'id' | 'unit'>> {
  const { identityOf } = await import('../../core/training/credit/playedCredit');
  const player = async (name: string): Promise<Pick<Model, 'name' | 'fingerprint'>> => ({
    name,
    fingerprint: await engine.fingerprintOf(name),
  });
  const players = {
    agent: await player(agent),
    simulator: simulator === undefined ? undefined : await player(simulator),
  };
  const settings = { ...settingsIn(engine, agent), prompts: await engine.prompts() };
  return { id: identityOf(kind, { ...settings, ...players }), unit: 'reward' };
}

/**
 * @param id the one of `identityIn`
 * @throws {Fault} `editor/restricted`; faults of the models, the simulator and the grader
 */
export async function computePlayed(
  engine: Engine,
  { agent: agentName, simulator: simulatorName }: PlayedBy,
  id: string,
  trajectories: readonly Trajectory[],
  { signal, report }: { readonly signal: AbortSignal; readonly report: Report },
): Promise<Credit[]> {
  const { playedCredit, playedDialogue } = await import('../../core/training/credit/playedCredit');
  const { AnswerNow } = await import('../../core/training/credit/answerNow');
  const { Rollouts } = await import('../../core/training/credit/rollouts');
  const stop = new AbortController();
  const plan = {
    signal: AbortSignal.any([signal, stop.signal]),
    ...{ ...settingsIn(engine, agentName), concurrency: AT_ONCE, ...(await engine.pageParts()) },
    agent: await engine.modelNamed(agentName),
    prompts: await engine.prompts(),
    grader: await engine.grader(),
  };
  const simulator = simulatorName === undefined ? undefined : await engine.openSimulator(simulatorName);
  const value = simulator === undefined ? new AnswerNow(plan) : new Rollouts({ ...plan, simulator });
  const histories = trajectories.reduce((sum, { turns }) => sum + turns.length, 0);
  let done = 0;
  const onValue = (): void => {
    done += 1;
    report(t('{0} of {1} histories', Math.min(done, histories), histories), Math.min(1, done / histories));
  };
  const credits: Credit[] = [];
  try {
    for (const trajectory of trajectories) {
      signal.throwIfAborted();
      credits.push({ ...(await playedCredit(playedDialogue(trajectory), value, onValue)), critic: id });
    }
    return credits;
  } finally {
    // After a failure other samples would go on.
    stop.abort();
  }
}

const settingsIn = (engine: Engine, agent: string) => ({
  ...{ samples: SAMPLES, seed: 0, mode: engine.gradingMode },
  sampling: { temperature: 1, maxTokens: engine.samplingOf(agent).maxTokens },
});
