import type { SampledAgent } from '../../core/dialogue/sample';
import type { DialogueParts } from '../../core/dialogue/dialogueParts';
import type { Prompts } from '../../core/dialogue/prompts';
import { colBenchPageProtocol, type Protocol } from '../../core/dialogue/protocol';
import type { Simulator } from '../../core/dialogue/simulator';
import type { GradingMode } from '../../core/grading/grade';
import type { Grader } from '../../core/grading/grader';
import type { Model, SamplingSettings } from '../../core/model/model';
import type { PageReader } from '../../core/page/outline';
import { isProgram, type Task } from '../../core/task/task';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { termsOf } from '../../core/trajectory/modelTerms';
import type { ConsentRequest, OwnFunction } from '../../../webview/session/protocol';
import type { Namer } from '../displayNames';
import type { DrawPage } from '../pageViews';
import type { Translate } from '../translate';

/** Nothing is logged of a developer before they have agreed, under a pseudonym and for a purpose. */
export interface ConsentKeeper {
  readonly given: ConsentRequest | undefined;
  readonly suggestion: ConsentRequest;
  give(consent: ConsentRequest): Promise<void>;
  /** Makes sure that this folder's log holds the consent, before it holds anything of the developer. */
  record(): Promise<void>;
}

/** They are read when they are needed, so that changed settings count at once. */
export interface SessionParts extends Namer {
  /** Translates what a person sees; what is logged or sent stays English. */
  readonly t: Translate;
  /** Model in the settings; empty when none is configured. */
  readonly agentName: string;
  /** Agent that writes the second candidate; empty when the agent itself does. */
  readonly secondAgentName: string;
  readonly simulatorName: string;
  isConnected(spec: string): boolean;
  readonly protocol: Protocol;
  readonly sampling: SamplingSettings;
  readonly gradingMode: GradingMode;
  readonly showsCounters: boolean;
  readonly showsCandidates: boolean;
  /** Reason why nothing is played in this workspace; undefined in a trusted one. */
  readonly restriction: string | undefined;
  readonly consent: ConsentKeeper;
  /** Folder of the log; empty when no folder is open. */
  readonly dataFolder: string;
  /** @throws {Fault} with the remedy when there is no folder to log into, or it cannot be written */
  log(): Promise<TrajectoryLog>;
  /** @throws {Fault} when the setting names no model that can be opened */
  openAgent(): Promise<Model>;
  /** Undefined when none is configured. @throws {Fault} when the setting names no model that can be opened */
  openSecondAgent(): Promise<SampledAgent | undefined>;
  /** Returns undefined when none is configured. */
  openSimulator(): Promise<Simulator | undefined>;
  prompts(): Promise<Prompts>;
  grader(): Promise<Grader>;
  /** Reads what a person sees of a page. */
  readonly pages: PageReader;
  /** For dialogues about pages; CLIP where `tandem download clip` puts it. */
  pageParts(): Promise<Pick<DialogueParts, 'pages' | 'clip'>>;
  readonly drawPage: DrawPage;
  report(error: unknown): void;
}

/** Source of a session's task: a pack that may still hold it, and the pack's name in the log. */
export interface SessionTask {
  readonly task: Task;
  /** Path of the pack's file; absent when only the log knows the task. */
  readonly pack?: string;
  readonly packName?: string;
  /** Title in the list of tasks, where several have the same. */
  readonly title?: string;
  /** The developer's own function that the task is about. */
  readonly own?: OwnFunction;
}

export async function dialogueParts(parts: SessionParts): Promise<DialogueParts> {
  const simulator = await parts.openSimulator();
  return {
    log: await parts.log(),
    agent: agentOf(parts),
    ...(simulator === undefined ? {} : { simulator }),
    prompts: await parts.prompts(),
    sampling: parts.sampling,
    ...(await parts.pageParts()),
  };
}

/** The setting of the reply limit is about functions; that of pages is the published one. */
export const protocolFor = (task: Task, { protocol }: Pick<SessionParts, 'protocol'>): Protocol =>
  isProgram(task) ? protocol : { ...protocol, replyLimit: colBenchPageProtocol.replyLimit };

/** It is opened when it is asked: a page is graded without it. */
export const graderOf = (parts: SessionParts): Pick<Grader, 'grade'> => ({
  grade: async (...request) => (await parts.grader()).grade(...request),
});

/** It is opened when it is asked, so that an old dialogue is graded without it and changed settings count at once. */
const agentOf = (parts: SessionParts): Model => ({
  name: parts.agentName,
  ...termsOf(parts.agentName),
  generate: async (...request) => (await parts.openAgent()).generate(...request),
});
