import type { StepView } from '../ui/protocol';

/** Values that the person has set, as typed, by the name of the field. An absent field has the recommended value. */
export type Values = Readonly<Record<string, string>>;

export interface DuplicatedRun {
  readonly of: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Its training data: `12 dialogues of 6 tasks`; empty when they are files. */
  readonly data: string;
}

/** State of the form, which the editor keeps when the window is reloaded. */
export interface FormState {
  /** Data folder of the log for which the form was opened. */
  readonly dataFolder: string;
  readonly values: Values;
  readonly copied?: DuplicatedRun;
  /** *More* is open. */
  readonly isUnfolded?: boolean;
}

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'change'; readonly values: Values }
  | { readonly type: Action };

export type Action =
  | 'browse'
  | 'start'
  /** Cancels the start or the installation. */
  | 'cancel'
  | 'openFile'
  /** Sets up the trainer's Python environment. */
  | 'prepare'
  /** Plans the run now, with the downloads that this needs. */
  | 'plan'
  | 'askCluster'
  /** `collect`, `generate`, `play` and `import` get dialogues or tasks when there are too few to train on. */
  | 'collect'
  | 'generate'
  | 'play'
  | 'import'
  | 'trust';

export type ToWebview =
  | { readonly type: 'begin'; readonly state: FormState }
  | { readonly type: 'set'; readonly values: Values }
  | FormView
  | DataView
  | EstimateView
  | StartView;

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly detail?: string;
}

export interface MethodOption extends Option {
  /** It plays tasks itself and needs no log. */
  readonly plays: boolean;
}

export interface FieldView {
  readonly name: string;
  readonly label: string;
  readonly about: string;
  readonly control: 'text' | 'flag' | 'choice';
  /** Says what the value will lead to; absent when there is nothing to warn of. */
  readonly warning?: string;
  /** Present when `control` is `choice`. */
  readonly options?: readonly Option[];
  readonly placeholder?: string;
  readonly isChanged: boolean;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly FieldView[];
}

export interface ClusterView {
  readonly fields: readonly FieldView[];
  /** `none`: there is no address to ask yet. `failed`: the address has an error, which says why. */
  readonly state: 'none' | 'checking' | 'answers' | 'failed';
  /** What the cluster has: `Ray 2.60.0, 3 nodes, 24 CPUs`; empty until it answers. */
  readonly sentence: string;
}

export interface FormView {
  readonly type: 'show';
  /** Values of all fields, as they would be typed: set by the person, or else recommended. */
  readonly values: Values;
  readonly bases: readonly Option[];
  /** Sources of training data: the rows of the duplicated run, or the log; empty when there is no choice. */
  readonly sources: readonly Option[];
  readonly methods: readonly MethodOption[];
  readonly devices: readonly Option[];
  /** The places where a run may be trained; empty when there is no choice. */
  readonly places: readonly Option[];
  readonly cluster?: ClusterView;
  /** What is trained on: filters of the log, where it is read, and settings. */
  readonly data: readonly FieldView[];
  readonly groups: readonly FieldGroup[];
  /** Absent when the model needs no warm start, or there is nothing to imitate. */
  readonly warmStart?: WarmStartView;
  /** Why the form selected another method than the usual one; empty once the person chose, or is advised a warm start. */
  readonly methodReason: string;
  /** Explains the recommended settings; shown while none is changed. */
  readonly recommendation: string;
  /** Number of settings under *More* that differ from those of a new run. */
  readonly changed: number;
  /** One sentence for each field with an error, by the name of the field. */
  readonly errors: Values;
  /** Reason why nothing can be trained here; empty when something can. */
  readonly restriction: string;
  /** The log holds no dialogue, and no run is duplicated. */
  readonly isEmpty: boolean;
}

/** Advice to begin with a warm start: rejection fine-tuning before SWEET-RL. */
export interface WarmStartView {
  readonly sentence: string;
  /** Fields that the warm start sets; empty when it is chosen already. */
  readonly values: Values;
}

export interface DataView {
  readonly type: 'data';
  readonly isCounting: boolean;
  readonly isCollecting: boolean;
  /** What is used, how many, and what is left out; empty while nothing is known. */
  readonly summary: string;
  readonly figures: readonly { readonly label: string; readonly value: string; readonly note: string }[];
  readonly leftOut: readonly { readonly reason: string; readonly count: string }[];
  /** Reason why nothing can be learned from the data; empty when something can. */
  readonly problem: string;
  /** Sentences on data that are too few for a better agent, and what to do; empty when they are enough. */
  readonly remarks: readonly string[];
}

export interface CheckView {
  readonly name: string;
  readonly isFailed: boolean;
  readonly command: string;
  readonly saw: string;
  readonly remedy: string;
}

export interface EstimateView {
  readonly type: 'estimate';
  /**
   * `unprepared`: the trainer's environment must be set up first. `asked`: planning would download something, so the
   * person is asked. `none`: there is nothing to plan.
   */
  readonly state: 'none' | 'unprepared' | 'asked' | 'working' | 'planned' | 'failed';
  /** Current activity or result, or the reason why there is no plan. */
  readonly sentence: string;
  /** Error of the last attempt to set up the trainer; empty when there was none. */
  readonly problem: string;
  /** Summary of the plan: `about 3 min · 0.9 of 14 GiB`, or of what comes before; empty where there is neither. */
  readonly summary: string;
  readonly fits: boolean;
  readonly rows: readonly { readonly label: string; readonly value: string }[];
  readonly advice: readonly string[];
  /** Checks of the machine that need attention, failed ones first. */
  readonly checks: readonly CheckView[];
  readonly installing?: StepView;
}

export interface StartView {
  readonly type: 'start';
  readonly isStarting: boolean;
  readonly problem: string;
  readonly checks: readonly CheckView[];
}
