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

/** A ColBench backend-programming task, parsed once at the edge. */
export interface Task {
  /** The row's `id`, else a hash of its content. */
  readonly id: string;
  /** `problem_description`: the vague request, ending with the signature. Everyone sees it. */
  readonly description: string;
  /** `ground_truth`: the reference function, Python source. Only the collaborator and the critic know it. */
  readonly reference: string;
  readonly testCases: readonly TestCase[];
  /** `hidden_information`; the reference when the row has none. */
  readonly hiddenInformation: string;
  readonly facts?: readonly Fact[];
  readonly source?: string;
  readonly license?: string;
}

/** With uniform spacing: tasks that ask for the same are one task, whatever their ids. */
export const requestOf = ({ description }: Pick<Task, 'description'>): string =>
  description.replace(/\s+/g, ' ').trim();
