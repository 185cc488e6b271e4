import type { Grader } from '../grading/grader';
import type { Model } from '../model/model';
import type { Trainer } from '../training/trainer';
import type { TrajectoryLog } from '../trajectory/log';
import type { Comparisons } from './comparison';
import type { StageName } from './record';
import type { Collected } from './results';
import type { LoopSettings } from './settings';
import type { TasksResult } from './tasks';

export interface LoopPlan {
  /** Of the loop, absolute: its record, its tasks and its report. */
  readonly folder: string;
  /** The data folder whose log and runs it uses, absolute, with the log where that is open; the loop's own folder when absent. */
  readonly data?: { readonly folder: string; readonly log: TrajectoryLog };
  /** Where a copy of the newest model stands, absolute; when absent, the model plays where its run left it. */
  readonly model?: string;
  readonly settings: LoopSettings;
  /** Packs to learn from and to measure on; the starter world when there are none. */
  readonly packs: readonly string[];
  /** What those that are held out are called in the run's evaluations. */
  readonly title: string;
  readonly seed: number;
  /** What the run's name begins with; the rest of it tells runs of other data or settings apart. */
  readonly runName: string;
  /** Who plays and learns: its name, its model folder, which is trained, and the graph that it plays from. */
  readonly agent: { readonly name: string; readonly base: string; readonly graph: string };
  readonly simulator: string;
  /** The folder of the prompts that ship with Tandem. */
  readonly prompts: string;
  /** The digest of the trainer's sources. */
  readonly trainerCode: string;
  readonly openModel: (name: string) => Model;
  /** Asked for when a stage needs one, once; whoever gives it closes it. */
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
  /** Of those that are done, how many an earlier call did. */
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
  readonly comparisons: Comparisons;
  readonly precision: string;
  readonly stages: readonly {
    readonly name: StageName;
    readonly isSkipped: boolean;
    readonly seconds: number;
  }[];
}
