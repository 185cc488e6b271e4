import { createHash } from 'node:crypto';
import type { PackTask } from '../../src/core/dialogue/collect';
import type { ProgramTask } from '../../src/core/task/task';
import type { Prompts } from '../../src/core/dialogue/prompts';
import type { Simulator } from '../../src/core/dialogue/simulator';
import type { Grader } from '../../src/core/grading/grader';
import type { Precision } from '../../src/core/training/convert';
import type {
  TrainedResult,
  TrainedOptions,
  TrainedProgress,
} from '../../src/core/evaluation/loop/trainingStage';
import type { Model } from '../../src/core/model/model';
import type { Run } from '../../src/core/training/runs';
import type { Scored, ScoreOptions } from '../../src/core/training/score';
import type { Method, Plan } from './plan';

/** A split of the starter world. */
export type Split = 'train' | 'development' | 'test';

/** The fields of the run that trained a model. */
export type TrainingRun = Pick<Run, 'id' | 'startedAt' | 'changedAt'>;

/** Context of a scoreboard: its plan, and everything with which it is carried out. */
export interface Surroundings {
  /** The folder of all its files. */
  readonly out: string;
  readonly plan: Plan;
  readonly methods: readonly Method[];
  /** The model folder from which every method starts. */
  readonly start: string;
  /** Precision at which the start model plays, and therefore every model trained from it. */
  readonly precision: Precision;
  /** Opens a model folder as the agent; the caller must close it. */
  readonly openAgent: (folder: string) => Model;
  readonly tasks: (of: { split: Split; count: number; seed: number }) => readonly PackTask<ProgramTask>[];
  readonly simulator: Simulator;
  readonly prompts: Prompts;
  readonly grader: Grader;
  /** The digest of the trainer's sources. */
  readonly trainerCode: string;
  readonly train: (
    options: Pick<TrainedOptions, 'configuration' | 'key' | 'signal'> & {
      readonly onProgress: (progress: TrainedProgress) => void;
    },
  ) => Promise<Pick<TrainedResult, 'model' | 'critic'> & { readonly run: TrainingRun }>;
  readonly score: (options: ScoreOptions) => Promise<Scored[]>;
  readonly signal?: AbortSignal;
  /** Leaves out Monte-Carlo credit. */
  readonly withoutCredit?: boolean;
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

/** Returns a digest of a split's tasks; their ids alone would miss a changed wording. */
export const contentOf = (tasks: readonly PackTask<ProgramTask>[]): string =>
  digestOf(
    tasks.map(({ task }) => [
      task.description,
      task.reference,
      task.testCases,
      task.hiddenInformation,
      task.facts,
    ]),
  );

/** Returns a short digest of the parts, which identifies whatever depends on them. */
export const digestOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
