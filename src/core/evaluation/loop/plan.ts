import type { Grader } from '../../grading/grader';
import type { Model } from '../../model/model';
import type { Trainer } from '../../training/trainer';
import type { TrajectoryLog } from '../../trajectory/log';
import type { TrainedComparisons } from './comparison';
import type { StageName } from './record';
import type { Collected } from './results';
import type { LoopSettings } from './settings';
import type { TasksResult } from './tasks';

export interface LoopPlan {
  /** Absolute folder of the loop, with its record, its tasks and its report. */
  readonly folder: string;
  /** Absolute data folder whose log and runs the loop uses, and its open log; the loop's own folder when absent. */
  readonly data?: { readonly folder: string; readonly log: TrajectoryLog };
  /** Absolute folder for a copy of the newest model; when absent, the model plays from its run's folder. */
  readonly model?: string;
  readonly settings: LoopSettings;
  /** Packs to learn from and to measure on; the starter world when there are none. */
  readonly packs: readonly string[];
  /** Name of the held-out tasks in the run's evaluations. */
  readonly title: string;
  readonly seed: number;
  /** Beginning of the run's name; the rest of the name tells runs of other data or settings apart. */
  readonly runName: string;
  /**
   * The agent that plays and learns: its name, its model folder, which is trained, and the graph that it plays from.
   */
  readonly agent: { readonly name: string; readonly base: string; readonly graph: string };
  readonly simulator: string;
  /** The folder of the prompts that ship with Tandem. */
  readonly prompts: string;
  /** Digest of the trainer's sources. */
  readonly trainerCode: string;
  readonly openModel: (name: string) => Model;
  /** Called once, when a stage first needs the grader; whoever provides the function closes it. */
  readonly openGrader: () => Promise<Grader>;
  readonly openTrainer: () => Promise<Trainer>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoopProgress) => void;
}

export type LoopProgress = { readonly stage: StageName } & (
  | { readonly state: 'begun'; readonly because: string }
  | StageProgress
  | { readonly state: 'done' | 'skipped'; readonly said: string; readonly seconds: number }
);

/** Work going on in a stage; `secondsLeft` is there when the work itself can tell. */
export interface StageProgress {
  readonly state: 'working';
  readonly what: string;
  /** Unit of the numbers, when they count things that have a name. */
  readonly unit?: string;
  readonly done?: number;
  readonly total?: number;
  /** Number of those done that an earlier call did. */
  readonly already?: number;
  readonly secondsLeft?: number;
  /** The id of the run that trains. */
  readonly run?: string;
}

export interface LoopResult {
  readonly folder: string;
  /** The data folder with the dialogues and the run. */
  readonly data: string;
  /** The folder of the new model. */
  readonly model: string;
  readonly report: string;
  readonly run: string;
  readonly tasks: TasksResult;
  readonly collected: Collected;
  readonly comparisons: TrainedComparisons;
  readonly precision: string;
  readonly stages: readonly {
    readonly name: StageName;
    readonly isSkipped: boolean;
    readonly seconds: number;
  }[];
}
