/** After the first time, only the new ends of curves are sent, a few times a second at most. */
import type { ChartName, Choice, CurvesView, FigureName, Look, PinMessage } from '../chart/protocol';
import type { SaveMessage } from '../ui/protocol';

export type RunState = 'queued' | 'running' | 'stopped' | 'done' | 'failed' | 'lost';

export interface StageView {
  /** Name of the stage in the trainer's events. */
  readonly name: string;
  readonly label: string;
  readonly state: 'done' | 'now' | 'waiting';
  /** Finished fraction, 0 to 1; absent while unknown. */
  readonly fraction?: number;
  readonly hasCurves: boolean;
}

export interface FigureView {
  readonly name: FigureName;
  /** `training` and `heldOut`: the latest values; absent when the figure is not measured on these examples. */
  readonly training?: number;
  readonly heldOut?: number;
  /** Untrained baseline on the same held-out examples; absent for figures without this control. */
  readonly untrained?: number;
  /** The curve in about sixty values: on held-out examples when it has several values there, else on training data. */
  readonly outline: readonly number[];
  readonly isOutlineHeldOut: boolean;
}

export interface NodeView {
  readonly host: string;
  readonly state: 'works' | 'back' | 'lost' | 'idle';
  readonly stateLabel: string;
  readonly workers: number;
  /** GPUs of the workers: `2 × NVIDIA H100 80GB HBM3`; empty where they train on processors. */
  readonly gpus: string;
}

export interface RunView {
  readonly type: 'show';
  /** The editor restores the page from `dataFolder` and `id` after a reload of the window. */
  readonly dataFolder: string;
  readonly id: string;
  readonly name: string;
  /** Method and base model: `SWEET-RL on starter`. */
  readonly subject: string;
  /** Tags and note that a person gave the run; an empty text for no note. */
  readonly tags: readonly string[];
  readonly note: string;
  /** Training data: `1,800 dialogues of 300 tasks`; empty while unknown. */
  readonly data: string;
  readonly state: RunState;
  readonly stateLabel: string;
  readonly request: 'none' | 'stop' | 'finish';
  /** A trainer is working on the run, so that it can be paused. */
  readonly isLive: boolean;
  readonly canResume: boolean;
  readonly isUnstarted: boolean;
  /** The run waits in a queue that is halted; `sentence` says why. */
  readonly isHalted: boolean;
  readonly canFinish: boolean;
  readonly stages: readonly StageView[];
  /** Nodes of a run on a cluster; empty for a run on one machine, and until its first workers have started. */
  readonly nodes: readonly NodeView[];
  /** Describes the nodes in one sentence: `1 of 2 workers`; empty without nodes. */
  readonly workers: string;
  /** Remaining time: `3 min 20 s left`; empty when unknown. */
  readonly left: string;
  /** Result of a finished run, or the reason why a run ended or waits; empty while there is nothing to say. */
  readonly sentence: string;
  /** Success of a finished run on held-out tasks; empty before the run is done. */
  readonly measured: string;
  readonly isEvaluated: boolean;
  /** Says that held-out examples did not improve; empty otherwise. */
  readonly caution: string;
  /** Last lines of the trainer's output, when the run failed. */
  readonly lastLines: readonly string[];
  /** `model`: a model that cannot play here; `playable`: an agent that can; `collaborator`: one that can. */
  readonly result: 'none' | 'model' | 'playable' | 'collaborator';
  /** Reason why a run cannot be paused or resumed here; empty when it can. */
  readonly restriction: string;
  /** Stage whose figures are shown; empty before there are any. */
  readonly stage: string;
  readonly figure: FigureName;
  readonly figures: readonly FigureView[];
  /** Pinned charts that this run has, in the order of pinning. */
  readonly pinned: readonly PinnedView[];
}

interface PinnedView extends ChartName {
  /** Untrained baseline on the same held-out examples; absent for figures without this control. */
  readonly untrained?: number;
}

export interface CandidateView {
  readonly text: string;
  readonly times: number;
  readonly score?: number;
  readonly untrained?: number;
}

export interface MessageView {
  readonly isAgent: boolean;
  readonly text: string;
}

export interface SamplesView {
  readonly type: 'samples';
  /** Each group has the candidates for one history, best first. The latest group comes first. */
  readonly groups: readonly {
    /** Messages in order; empty when the run does not tell them. */
    readonly history: readonly MessageView[];
    readonly candidates: readonly CandidateView[];
  }[];
}

export interface EventListView {
  readonly type: 'told';
  /** Latest event first. */
  readonly lines: readonly { readonly time: string; readonly text: string }[];
  /** Says how many other events are not shown; empty when all are. */
  readonly more: string;
}

export type ToWebview = RunView | CurvesView | SamplesView | EventListView;

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
  'people',
  'chat',
  'trust',
] as const;
export type Action = (typeof actions)[number];

export type FromWebview =
  | { readonly type: 'ready'; readonly choice: Choice }
  | { readonly type: 'choose'; readonly choice: Choice }
  | { readonly type: 'act'; readonly action: Action }
  | PinMessage
  | SaveMessage;

export interface PanelState extends Look {
  readonly dataFolder: string;
  readonly id: string;
  readonly choice: Choice;
}
