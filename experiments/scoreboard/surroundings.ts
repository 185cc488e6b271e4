import { createHash } from 'node:crypto';
import type { PackTask } from '../../src/core/dialogue/collect';
import type { ProgramTask } from '../../src/core/task/task';
import type { Prompts } from '../../src/core/dialogue/prompts';
import type { Simulator } from '../../src/core/dialogue/simulator';
import type { Grader } from '../../src/core/grading/grader';
import type { Precision, Scored, ScoreOptions } from '../../src/core/training/convert';
import type {
  TrainedResult,
  TrainedOptions,
  TrainedProgress,
} from '../../src/core/evaluation/loop/trainingStage';
import type { Model } from '../../src/core/model/model';
import type { Method } from './methods';
import type { Plan } from './plan';
import type { Costs } from './rows';

/** A split of the starter world. */
export type Split = 'train' | 'development' | 'test';

export interface StartModel {
  /** As on the command line. */
  readonly name: string;
  readonly folder: string;
  readonly fingerprint: string;
}

/** Counted by a training; dialogues and tokens of the collected data come on top. */
export type TrainingCosts = Omit<Costs, 'collected'>;

export interface TrainedModel extends Pick<TrainedResult, 'model' | 'critic'> {
  readonly costs: TrainingCosts;
}

/** Context of a scoreboard: its plan, and everything with which it is carried out. */
export interface Surroundings {
  /** The folder of all its files, except the rows. */
  readonly out: string;
  /** The file of the rows. */
  readonly rows: string;
  readonly plan: Plan;
  readonly methods: readonly Method[];
  /** The model from which every method starts. */
  readonly start: StartModel;
  /** Precision at which the start model plays, and therefore every model trained from it. */
  readonly precision: Precision;
  /** Opens an agent as on the command line; the caller must close it. */
  readonly openAgent: (name: string) => Model;
  readonly tasks: (of: { split: Split; count: number; seed: number }) => readonly PackTask<ProgramTask>[];
  readonly simulator: Simulator;
  readonly prompts: Prompts;
  readonly grader: Grader;
  readonly train: (
    options: Pick<TrainedOptions, 'configuration' | 'key' | 'name' | 'signal'> & {
      readonly onProgress: (progress: TrainedProgress) => void;
    },
  ) => Promise<TrainedModel>;
  readonly score: (options: ScoreOptions) => Promise<Scored[]>;
  readonly signal?: AbortSignal;
  /** Receives the work in progress in a few words, and how much of everything is done. */
  readonly onProgress?: (progress: BoardProgress) => void;
}

export interface BoardProgress {
  /** Number of finished cells, and of all cells. */
  readonly done: number;
  readonly total: number;
  /** The subject, e.g. a cell, and its state. */
  readonly what: string;
  readonly where: string;
  /** True when the subject is finished. */
  readonly isEnd?: boolean;
  /** Seconds until all items of its kind are done; absent until one has been timed. */
  readonly secondsLeft?: number;
}

/** Digests by draw, because every key of a cell asks for them. */
const contents = new WeakMap<readonly PackTask<ProgramTask>[], string>();

/** Returns a digest of a split's tasks; their ids alone would miss a changed wording. */
export function contentOf(tasks: readonly PackTask<ProgramTask>[]): string {
  const before = contents.get(tasks);
  if (before !== undefined) return before;
  const content = digestOf(
    tasks.map(({ task }) => [
      task.description,
      task.reference,
      task.testCases,
      task.hiddenInformation,
      task.facts,
    ]),
  );
  contents.set(tasks, content);
  return content;
}

/** Returns a short digest of the parts, which identifies whatever depends on them. */
export const digestOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
