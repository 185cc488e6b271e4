import type { Protocol } from '../../core/dialogue/protocol';
import type { Prompts } from '../../core/dialogue/prompts';
import type { Simulator } from '../../core/dialogue/simulator';
import type { GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import type { SampledAgent } from '../../core/dialogue/candidates';
import type { Model, SamplingSettings } from '../../core/model/model';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { ConsentRequest } from '../../../webview/session/protocol';
import type { Namer } from '../models/called';
import type { Translate } from '../translate';

/** Nothing of a developer is logged before he has agreed to it, under a pseudonym and for a purpose. */
export interface ConsentKeeper {
  readonly given: ConsentRequest | undefined;
  /** What the form starts with. */
  readonly suggestion: ConsentRequest;
  give(consent: ConsentRequest): Promise<void>;
  /** Makes sure that this folder's log holds the consent, before it holds anything of the developer. */
  record(): Promise<void>;
}

/** What a session needs of the rest of Tandem; read when it is needed, so that changed settings count at once. */
export interface SessionParts extends Namer {
  /** What is shown to a person is said in the editor's language; what is logged or sent is not. */
  readonly t: Translate;
  /** As in the settings; empty when none is configured. */
  readonly agentName: string;
  /** The agent that writes the other one of two candidates; empty when the agent itself does. */
  readonly secondAgentName: string;
  readonly simulatorName: string;
  readonly protocol: Protocol;
  /** Of the agent. */
  readonly sampling: SamplingSettings;
  readonly gradingMode: GradingMode;
  /** Whether turns and time are counted before the person's eyes. */
  readonly showsCounters: boolean;
  /** Whether a developer chooses each message of the agent from two candidates. */
  readonly showsCandidates: boolean;
  /** Why nothing is played in this workspace; undefined where it is trusted. */
  readonly restriction: string | undefined;
  readonly consent: ConsentKeeper;
  /** Where the log is; empty when no folder is open. */
  readonly dataFolder: string;
  /** @throws {Fault} with what to do when there is no folder to log into, or it cannot be written */
  log(): Promise<TrajectoryLog>;
  /** @throws {Fault} when the setting names no model that can be opened */
  openAgent(): Promise<Model>;
  /** With its own sampling settings; undefined when none is configured. @throws {Fault} when the setting names no model that can be opened */
  openSecondAgent(): Promise<SampledAgent | undefined>;
  /** Undefined when none is configured. */
  openSimulator(): Promise<Simulator | undefined>;
  prompts(): Promise<Prompts>;
  grader(): Promise<Grader>;
  /** Writes to the output channel what a person sees only one sentence of. */
  report(error: unknown): void;
}
