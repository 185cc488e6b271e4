import { createHash } from 'node:crypto';
import type { PackTask } from '../dialogue/collect';
import type { Prompts } from '../dialogue/prompts';
import type { Simulator } from '../dialogue/simulator';
import type { Grader } from '../grading/grader';
import type { Precision } from '../training/onnx';
import type { TrainedResult, TrainedOptions, TrainedProgress } from '../loop/trained';
import type { Model } from '../model/model';
import type { Run } from '../training/runs';
import type { Scored, ScoreOptions } from '../training/score';
import type { Board } from './board';
import type { Method, Plan } from './plan';

/** A split of the starter world. */
export type Split = 'train' | 'development' | 'test';

/** What is told of the run that trained a model. */
export type TrainingRun = Pick<Run, 'id' | 'startedAt' | 'changedAt'>;

/** What a scoreboard needs besides what it is to do. */
export interface Surroundings {
  /** The folder of everything it makes. */
  readonly out: string;
  readonly plan: Plan;
  readonly methods: readonly Method[];
  /** The model folder that every method begins with. */
  readonly start: string;
  /** In which the start plays, and therefore every model that is made from it. */
  readonly precision: Precision;
  /** Opens a model folder to play the agent. Whoever opened it closes it. */
  readonly openAgent: (folder: string) => Model;
  readonly tasks: (of: { split: Split; count: number; seed: number }) => readonly PackTask[];
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
  /** Called when all but the credit is there, which may take as long again. */
  readonly onTable?: (board: Board) => Promise<void>;
  /** What is under way, in a few words, and how much of everything is done. */
  readonly onProgress?: (progress: BoardProgress) => void;
}

export interface BoardProgress {
  /** Cells done, of all. */
  readonly done: number;
  readonly total: number;
  /** What this is about, e.g. a cell, and where it stands. */
  readonly what: string;
  readonly where: string;
  /** It has come to its end. */
  readonly isEnd?: boolean;
  /** Of everything of its kind, when something of it has been timed. */
  readonly secondsLeft?: number;
}

/** The content of a split as it is played: its tasks' ids alone would miss a changed wording. */
export const contentOf = (tasks: readonly PackTask[]): string =>
  digestOf(
    tasks.map(({ task }) => [
      task.description,
      task.reference,
      task.testCases,
      task.hiddenInformation,
      task.facts,
    ]),
  );

/** Names a thing by what it depends on. */
export const digestOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
