import type { Grader } from '../../grading/grader';
import type { Model } from '../../model/model';
import type { PageReader } from '../../page/outline';
import type { World } from '../../task/starter/splits';
import type { Trainer } from '../../training/trainer';
import type { TrajectoryLog } from '../../trajectory/log';
import type { TrainedComparisons } from './comparison';
import type { StageName, Collected } from './record';
import type { LoopSettings } from './settings';
import type { TasksResult } from './tasks';

export interface LoopPlan {
  /** Absolute; with the loop's record, its tasks and its report. */
  readonly folder: string;
  /** Absolute folder with log and runs, and its open log; by default the loop's own folder. */
  readonly data?: { readonly folder: string; readonly log: TrajectoryLog };
  /** Absolute folder for a copy of the newest model; when absent, the model plays from its run's folder. */
  readonly model?: string;
  readonly settings: LoopSettings;
  /** To learn from and to measure on; the world when there are none. */
  readonly packs: readonly string[];
  /** The kind of tasks, generated or of the packs. */
  readonly world: World;
  /** For the checks of pages; absent where there are only functions. */
  readonly pages?: PageReader;
  readonly title: string;
  readonly seed: number;
  /** Beginning of the run's name; a digest of data and settings follows. */
  readonly runName: string;
  /** Shown instead of the run's name. */
  readonly shownName?: string;
  /** `base`: the model folder that is trained; `graph`: the graph that plays. */
  readonly agent: { readonly name: string; readonly base: string; readonly graph: string };
  readonly simulator: string;
  readonly prompts: string;
  readonly trainerCode: string;
  readonly openModel: (name: string) => Model;
  /** Called once, when a stage first needs the grader; the caller of the loop closes it. */
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

/** `secondsLeft`, of the stage, is present when the work itself can estimate it. */
export interface StageProgress {
  readonly state: 'working';
  readonly what: string;
  readonly unit?: string;
  readonly done?: number;
  readonly total?: number;
  /** Part of `done` from an earlier call. */
  readonly already?: number;
  readonly secondsLeft?: number;
  readonly run?: string;
}

export interface LoopResult {
  readonly folder: string;
  readonly data: string;
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
