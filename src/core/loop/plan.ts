import type { Grader } from '../grading/grader';
import type { Model } from '../model/model';
import type { Trainer } from '../training/trainer';
import type { Comparisons } from './comparison';
import type { StageName } from './record';
import type { Collected } from './results';
import type { LoopSettings } from './settings';
import type { TasksResult } from './tasks';

export interface LoopPlan {
  /** Of the loop, absolute: a data folder of its own, with the tasks, the report and the new model beside the log. */
  readonly folder: string;
  readonly settings: LoopSettings;
  /** Packs to learn from and to measure on; the starter world when there are none. */
  readonly packs: readonly string[];
  readonly seed: number;
  /** Who plays and learns: its name, its model folder, which is trained, and the graph that it plays from. */
  readonly agent: { readonly name: string; readonly base: string; readonly graph: string };
  readonly simulator: string;
  /** The folder of the prompts that ship with Tandem. */
  readonly prompts: string;
  /** The digest of the trainer's sources. */
  readonly trainerCode: string;
  readonly openModel: (name: string) => Model;
  /** Asked for when a stage needs one, once. */
  readonly openGrader: () => Promise<Grader>;
  readonly openTrainer: () => Promise<Trainer>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoopProgress) => void;
}

export type LoopProgress = { readonly stage: StageName } & (
  | { readonly state: 'begun'; readonly because: string }
  | Working
  | { readonly state: 'done' | 'skipped'; readonly said: string; readonly seconds: number }
);

/** `secondsLeft`: as far as the work itself can tell. */
export interface Working {
  readonly state: 'working';
  readonly what: string;
  /** Of the numbers, when they are of things that have a name. */
  readonly unit?: string;
  readonly done?: number;
  readonly total?: number;
  readonly secondsLeft?: number;
}

export interface LoopResult {
  readonly folder: string;
  /** The folder of the new model. */
  readonly model: string;
  readonly report: string;
  readonly run: string;
  readonly tasks: TasksResult;
  readonly collected: Collected;
  readonly comparisons: Comparisons;
  readonly precision: string;
  readonly stages: readonly {
    readonly name: StageName;
    readonly isSkipped: boolean;
    readonly seconds: number;
  }[];
}
