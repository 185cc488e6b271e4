import { Fault } from '../fault';
import type { PageCheck } from '../pageCheck';

/** One hidden test: a Python expression that calls the function, compared with what the reference returns for it. */
export interface TestCase {
  readonly name: string;
  readonly call: string;
}

/** One hidden decision, as a rule-based simulator may tell it. */
export interface Fact {
  /** Subject of the fact in a few words ("surcharge threshold"). */
  readonly topic: string;
  /** Words and short phrases that a question about it would contain; matched on word stems, any case. */
  readonly keywords: readonly string[];
  /** Wordings of the answer, at least one; the dialogue's seed decides which is used. */
  readonly answers: readonly string[];
}

/** What a function must do, in words, for a simulator that is not given the reference. */
export interface Specification {
  /** One sentence each. */
  readonly requirements: readonly string[];
  /** The model that drafted them; absent for a person. */
  readonly by?: string;
  /** Tests passed by a function that a model wrote from the request and these requirements alone. */
  readonly check?: { readonly by: string; readonly passed: number; readonly tests: number };
}

interface SharedTask {
  /** The row's `id`, else a hash of its content. */
  readonly id: string;
  /** `problem_description`: the vague request. Everyone sees it. */
  readonly description: string;
  /** `ground_truth`: what is wanted. Only the collaborator and the critic know it. */
  readonly reference: string;
  readonly source?: string;
  readonly license?: string;
}

/** A ColBench backend-programming task. Its description ends with the signature, its reference is Python source. */
export interface ProgramTask extends SharedTask {
  /** Absent in rows and logs from before there were pages. */
  readonly kind?: undefined;
  readonly testCases: readonly TestCase[];
  /** `hidden_information`; the reference when the row has none. */
  readonly hiddenInformation: string;
  readonly facts?: readonly Fact[];
  readonly specification?: Specification;
}

/** A ColBench frontend-design task. Its reference is the HTML of the wanted page; it has no tests. */
export interface PageTask extends SharedTask {
  readonly kind: 'page';
  /** What decides the reward in mode `fixed`; without them it is how alike the pages look. */
  readonly checks?: readonly PageCheck[];
}

/** A task of ColBench, parsed once at the edge. */
export type Task = ProgramTask | PageTask;

/** For what only functions have: tests, facts, a signature. @throws {Fault} `task/page` */
export function programOf(task: Task): ProgramTask {
  if (task.kind === undefined) return task;
  throw new Fault('task/page', `The task ${task.id} is a web page, and this is for functions only.`);
}

export const isProgram = (task: Task): task is ProgramTask => task.kind === undefined;

/** A page has none. */
export const testsOf = (task: Task): readonly TestCase[] => (isProgram(task) ? task.testCases : []);

/** A page has none. */
export const factsOf = (task: Task): readonly Fact[] => (isProgram(task) ? (task.facts ?? []) : []);

/** With uniform spacing: tasks that ask for the same are one task, whatever their ids. */
export const requestOf = ({ description }: Pick<Task, 'description'>): string =>
  description.replace(/\s+/g, ' ').trim();
