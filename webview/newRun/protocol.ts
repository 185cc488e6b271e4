/** The messages between the page of the form and the extension host. */

/** What a person has set, as it is typed, by the name of the field. What is not in it is as recommended. */
export type Values = Readonly<Record<string, string>>;

/** The run that is duplicated. */
export interface Copied {
  /** What it is called. */
  readonly of: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** `12 trajectories of 6 tasks`; empty when its data are files. */
  readonly data: string;
}

/** All that the form is made of; the editor keeps it over a reload of the window. */
export interface FormState {
  /** Of the log that it was opened on. */
  readonly dataFolder: string;
  readonly values: Values;
  readonly copied?: Copied;
  /** The folded settings are in sight. */
  readonly isUnfolded?: boolean;
}

export type FromWebview =
  /** `values` of the form as the editor has kept it, if it has. */
  | { readonly type: 'ready'; readonly values?: Values }
  | { readonly type: 'change'; readonly values: Values }
  | { readonly type: Action };

export type Action =
  /** Chooses the folder of a base model. */
  | 'browse'
  | 'start'
  /** Gives the start up that is under way. */
  | 'cancel'
  | 'openFile'
  /** Makes the trainer's environment. */
  | 'prepare'
  /** Plans now, also what has to be downloaded for it. */
  | 'plan'
  /** What there is to do where nothing can be trained: let the agent play with the simulator, or play oneself. */
  | 'collect'
  | 'generate'
  | 'play'
  | 'import'
  | 'trust';

export type ToWebview =
  | { readonly type: 'begin'; readonly state: FormState }
  /** The host sets fields. */
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

export interface FieldView {
  readonly name: string;
  readonly label: string;
  /** One sentence on what it does. */
  readonly about: string;
  readonly control: 'text' | 'flag' | 'choice';
  /** Of a choice. */
  readonly options?: readonly Option[];
  /** Stands in an empty text field. */
  readonly placeholder?: string;
  readonly isChanged: boolean;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly FieldView[];
}

export interface FormView {
  readonly type: 'show';
  /** Of every field, as it would be typed: what the person has set, or what is recommended. */
  readonly values: Values;
  readonly bases: readonly Option[];
  /** Whether the rows of the duplicated run or the log are learned from; none when there is nothing to choose. */
  readonly sources: readonly Option[];
  /** How the log is narrowed; none when it is not read. */
  readonly filters: readonly FieldView[];
  readonly methods: readonly Option[];
  readonly devices: readonly Option[];
  readonly groups: readonly FieldGroup[];
  /** Absent where the model need not be taught the protocol first. */
  readonly warmStart?: WarmStartView;
  /** Why the settings are as they are, where none is changed. */
  readonly recommendation: string;
  /** How many of the folded settings are not as recommended. */
  readonly changed: number;
  /** One sentence each, by the name of the field. */
  readonly errors: Values;
  /** Why nothing can be trained here; empty where it can. */
  readonly restriction: string;
  /** The log holds no dialogue at all. */
  readonly isEmpty: boolean;
}

/** Rejection fine-tuning before SWEET-RL. */
export interface WarmStartView {
  readonly sentence: string;
  /** What of the form it sets; nothing where it is chosen already. */
  readonly values: Values;
}

/** What would be learned from. */
export interface DataView {
  readonly type: 'data';
  readonly isCounting: boolean;
  /** The agent plays with the simulator to fill the log. */
  readonly isCollecting: boolean;
  readonly figures: readonly { readonly label: string; readonly value: string; readonly note: string }[];
  readonly leftOut: readonly { readonly reason: string; readonly count: string }[];
  /** Why nothing could be learned from it; empty when something can. */
  readonly problem: string;
  /** What of it is too little to expect a better agent, and what to do: a sentence each; none when it is enough. */
  readonly remarks: readonly string[];
}

export interface CheckView {
  readonly name: string;
  readonly isFailed: boolean;
  readonly command: string;
  readonly saw: string;
  readonly remedy: string;
}

/** What the run needs. */
export interface EstimateView {
  readonly type: 'estimate';
  /**
   * `unprepared`: the trainer's environment is to be made first. `asked`: it would download something. `none`: there is
   * nothing to plan.
   */
  readonly state: 'none' | 'unprepared' | 'asked' | 'working' | 'planned' | 'failed';
  /** What is done now, or why there is no plan. */
  readonly sentence: string;
  /** What came between, when it was tried; empty when nothing did. */
  readonly problem: string;
  /** `about 3 min · 0.9 of 14 GiB`; empty while there is no plan. */
  readonly summary: string;
  readonly fits: boolean;
  readonly rows: readonly { readonly label: string; readonly value: string }[];
  readonly advice: readonly string[];
  /** Those that are not well. */
  readonly checks: readonly CheckView[];
}

export interface StartView {
  readonly type: 'start';
  /** The form takes no changes until it has ended. */
  readonly isStarting: boolean;
  /** Why it could not be started; empty when nothing is wrong. */
  readonly problem: string;
  readonly checks: readonly CheckView[];
}
