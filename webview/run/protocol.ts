import type { CurvePart, FigureName, Look } from '../chart/protocol';

/**
 * What the run's webview and the extension host say to each other. The view says `ready` with what it shows, and gets
 * everything; from then on the host sends what has changed, a few times a second at most. Of curves only the end that is
 * new is sent.
 */

export type RunState =
  | 'preparing'
  | 'running'
  | 'stopping'
  | 'finishing'
  | 'stopped'
  | 'queued'
  | 'done'
  | 'failed'
  | 'died'
  | 'lost';

export interface StageView {
  /** As the trainer calls it. */
  readonly name: string;
  readonly label: string;
  readonly state: 'done' | 'now' | 'waiting';
  /** 0 to 1, while it is known. */
  readonly fraction?: number;
  /** It has curves to look at. */
  readonly hasCurves: boolean;
}

export interface FigureView {
  readonly name: FigureName;
  /** The latest value of training, and of the held-out examples where the figure is measured on them. */
  readonly training?: number;
  readonly heldOut?: number;
  /** The control: what the untrained score has on the same held-out examples. */
  readonly untrained?: number;
  /** The course in some sixty values: of the held-out examples where there are several, else of training. */
  readonly outline: readonly number[];
  readonly isOutlineHeldOut: boolean;
}

export interface RunView {
  readonly type: 'show';
  /** The data folder and the id: with them the editor brings the view back after a reload. */
  readonly dataFolder: string;
  readonly id: string;
  readonly name: string;
  /** `SWEET-RL on starter`. */
  readonly subject: string;
  /** `1,800 trajectories of 300 tasks`; empty while nobody knows. */
  readonly data: string;
  readonly state: RunState;
  readonly stateLabel: string;
  /** A trainer is at work on it, so that it can be paused. */
  readonly isLive: boolean;
  readonly canResume: boolean;
  /** It waits for its turn, which nothing gives it: `sentence` says why. */
  readonly isHalted: boolean;
  /** Its policy could be kept as it is. */
  readonly canFinish: boolean;
  readonly stages: readonly StageView[];
  /** `3 min 20 s left`; empty when nobody knows. */
  readonly left: string;
  /** What a run that is over comes to, or why it is over; empty while there is nothing to say. */
  readonly sentence: string;
  /** How a run that is done does on tasks that it never saw; empty before. */
  readonly measured: string;
  /** Of a run that failed or died: what its trainer said last. */
  readonly lastLines: readonly string[];
  /** There is a model, and whether it can play here. */
  readonly result: 'none' | 'model' | 'playable';
  /** Why a run cannot be paused or resumed here; empty where it can. */
  readonly restriction: string;
  /** Whose figures are shown; empty before there are any. */
  readonly stage: string;
  readonly figure: FigureName;
  /** Of that stage. */
  readonly figures: readonly FigureView[];
}

export interface CurveView {
  readonly type: 'curve';
  readonly stage: string;
  readonly figure: FigureName;
  readonly training: CurvePart;
  readonly heldOut: CurvePart;
  /** How many steps a point of training stands for. */
  readonly stepsPerPoint: number;
}

export interface CandidateView {
  readonly text: string;
  /** How often it was sampled. */
  readonly times: number;
  readonly score?: number;
  readonly untrained?: number;
}

/** A message of the dialogue before the turn. */
export interface MessageView {
  readonly isAgent: boolean;
  readonly text: string;
}

export interface SamplesView {
  readonly type: 'samples';
  /** Candidates for one history each, the best first; the latest group comes first. */
  readonly groups: readonly {
    /** In order; empty where the run does not tell it. */
    readonly history: readonly MessageView[];
    readonly candidates: readonly CandidateView[];
  }[];
}

export interface ToldView {
  readonly type: 'told';
  /** The latest first. */
  readonly lines: readonly { readonly time: string; readonly text: string }[];
  /** How many more there were; empty when all are shown. */
  readonly more: string;
}

export type ToWebview = RunView | CurveView | SamplesView | ToldView;

export const actions = [
  'pause',
  'finish',
  'kill',
  'resume',
  'startNow',
  'unqueue',
  'tryAgain',
  'continue',
  'log',
  'events',
  'configuration',
  'reveal',
  'duplicate',
  'play',
  'compare',
  'evaluate',
  'chat',
  'trust',
] as const;
export type Action = (typeof actions)[number];

/** What a person has chosen to see; what is not chosen follows the run. */
export interface Choice {
  readonly stage?: string;
  readonly figure?: FigureName;
}

export type FromWebview =
  | { readonly type: 'ready'; readonly choice: Choice }
  | { readonly type: 'choose'; readonly choice: Choice }
  | { readonly type: 'act'; readonly action: Action };

/** What the editor keeps of the view over a reload of the window. */
export interface PanelState extends Look {
  readonly dataFolder: string;
  readonly id: string;
  readonly choice: Choice;
}
