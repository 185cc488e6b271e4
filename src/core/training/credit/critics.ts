import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import {
  aboutCritic,
  CRITIC_FILE,
  criticGraphs,
  hasCriticGraphs,
  type CriticFile,
  identityOf,
} from '../../model/local/critic/criticFile';
import { isOfOtherWeights } from '../../model/local/weights';
import { dataFoldersIn, experimentsIn, type Series } from '../experiments';
import { runFiles } from '../runFolder';
import { Runs } from '../runs';
import { lastEvent } from '../eventFile';

/**
 * Units of an advantage. `logit`: the logit of the reward that a value head predicts after the turn. `reward`: credit
 * without a critic, a difference of rewards.
 */
export const units = ['nats-per-token', 'nats', 'logit', 'reward'] as const;
export type AdvantageUnit = (typeof units)[number];

export interface Critic {
  readonly folder: string;
  /** Digest under which scores and verdicts are stored: equal for copies, different after more training. */
  readonly id: string;
  readonly unit: AdvantageUnit;
  /** `onnx` (ONNX Runtime) when the critic scores by log-ratios and has graphs that fit its weights. */
  readonly runner: 'onnx' | 'trainer';
  readonly about: CriticFile;
}

export interface CriticPlace {
  readonly folder: string;
  readonly name: string;
}

export interface RunCritic extends CriticPlace {
  readonly run: string;
  /** The loop or scoreboard that the run belongs to, if any. */
  readonly experiment?: Series;
  readonly method: string;
  readonly base: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
}

async function criticsOfRuns(dataFolder: string): Promise<RunCritic[]> {
  const runs = await new Runs(dataFolder).list();
  return runs.flatMap(({ id, name, folder, method, base, startedAt }) => {
    const critic = join(folder, runFiles.critic);
    if (!existsSync(join(critic, CRITIC_FILE))) return [];
    return [{ folder: critic, name: name === '' ? id : name, run: id, method, base, startedAt }];
  });
}

/** Includes loops and scoreboards; the newest run first. */
export async function criticsIn(dataFolder: string): Promise<RunCritic[]> {
  const inExperiments = (await experimentsIn(dataFolder)).map(async (experiment) => {
    const critics = await Promise.all((await dataFoldersIn(experiment.folder)).map(criticsOfRuns));
    return critics.flat().map((critic) => ({ ...critic, experiment }));
  });
  const critics = await Promise.all([criticsOfRuns(dataFolder), ...inExperiments]);
  return critics.flat().sort((a, b) => b.startedAt.localeCompare(a.startedAt));
}

/** Includes the parent folder; `critic` alone would not identify it. */
export function nameOfFolder(folder: string): string {
  const own = basename(resolve(folder));
  return own === runFiles.critic ? basename(dirname(resolve(folder))) : own;
}

/** @throws {Fault} `model/foreign-folder`, `model/damaged-folder` */
export function openCritic(place: string): Critic {
  const folder = resolve(place);
  const about = aboutCritic(folder);
  const hasGraphs = hasCriticGraphs(folder) && !isOfOtherWeights(folder, criticGraphs(folder).critic);
  return {
    folder,
    id: identityOf(folder),
    unit: unitOf(about),
    runner: hasGraphs && about.score === 'log-ratio' ? 'onnx' : 'trainer',
    about,
  };
}

function unitOf({ score, length_normalisation }: CriticFile): AdvantageUnit {
  if (score === 'value-head') return 'logit';
  return length_normalisation ? 'nats-per-token' : 'nats';
}

/** The fraction of held-out pairs that a critic puts in the right order. */
export interface HeldOut {
  readonly accuracy: number;
  readonly pairs: number;
  /** The untrained baseline on the same pairs; absent in runs of an older trainer. */
  readonly untrained?: number;
}

const resultSchema = z.object({
  stages: z.object({
    critic: z.object({
      held_out_accuracy: z.number(),
      held_out_examples: z.number().int(),
      held_out_untrained_accuracy: z.number().optional(),
    }),
  }),
});

/** As reported by the critic's run; undefined when there is no run, or it held nothing out. */
export async function heldOutOf(criticFolder: string): Promise<HeldOut | undefined> {
  const result = await lastEvent(join(dirname(criticFolder), runFiles.events), 'result');
  const critic = resultSchema.safeParse(result).data?.stages.critic;
  if (critic === undefined) return undefined;
  const { held_out_accuracy: accuracy, held_out_examples: pairs } = critic;
  const untrained = critic.held_out_untrained_accuracy;
  return { accuracy, pairs, ...(untrained !== undefined && { untrained }) };
}
