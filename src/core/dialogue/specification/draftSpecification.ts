import { Fault } from '../../fault';
import type { Grade } from '../../grading/grade';
import type { Grader } from '../../grading/grader';
import type { ChatMessage, Model } from '../../model/model';
import type { ProgramTask, Specification } from '../../task/task';
import { taskTitle } from '../../task/title';
import { leakedPassages } from '../leak';
import { replyIn } from '../simulator';
import { inLines } from './specification';

export interface SpecificationDrafting {
  /** Reads the request and the reference. */
  readonly drafter: Model;
  /** Writes the function from the request and the requirements alone. */
  readonly checker: Model;
  readonly grader: Pick<Grader, 'grade'>;
  readonly signal?: AbortSignal;
}

const MAX_ATTEMPTS = 3;
const MAX_REQUIREMENTS = 40;
const MAX_REPEATED_CHARS = 6000;
const SAMPLING = { temperature: 0, maxTokens: 4096 } as const;

/**
 * Has a model put the reference into words, and another one write the function from them: the words suffice if it
 * passes the task's tests. What gives code away is refused; the drafter is told why and tries again.
 *
 * @returns the draft that passed the most tests, which may not be all; without `check` where the tests cannot run here
 * @throws {Fault} `dialogue/no-draft` when no draft is a list of requirements without code; what models and grader throw
 */
export async function draftSpecification(
  task: ProgramTask,
  { drafter, checker, grader, signal }: SpecificationDrafting,
): Promise<Specification> {
  const request = draftRequest(task);
  let conversation: ChatMessage[] = [{ role: 'user', content: request }];
  let best: Specification | undefined;
  let full: Fault | undefined;
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { text, finishReason } = await drafter.generate(conversation, SAMPLING, { signal });
      const said = replyIn(text);
      const isCut = finishReason === 'length';
      const requirements = requirementsIn(said, { isCut });
      const passages = leakedPassages(task.reference, requirements.join('\n'));
      let trouble: string;
      if (requirements.length === 0) trouble = isCut ? CUT : NO_LIST;
      else if (passages.length > 0) trouble = leakComplaint(passages);
      else {
        const answer = await checker.generate(functionRequest(task, requirements), SAMPLING, { signal });
        const grade = await grader.grade(task, replyIn(answer.text), { mode: 'fixed', signal });
        const draft = { requirements, by: drafter.name, ...checkOf(grade, checker.name) };
        if (best === undefined || passedBy(draft) > passedBy(best)) best = draft;
        if (grade.success !== false) return best;
        trouble = failureComplaint(draft.check!);
      }
      conversation = nextConversation(request, said, trouble);
    }
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'model/too-long') throw error;
    full = error;
  }
  if (best !== undefined) return best;
  throw new Fault(
    'dialogue/no-draft',
    full === undefined
      ? `${drafter.name} wrote no specification of the task “${taskTitle(task)}” that is a list without code. Choose another model, or write its facts.`
      : `There is no specification of the task “${taskTitle(task)}”: ${full.message}`,
  );
}

/**
 * Only the last draft, and of that as much as a list may have: a model that repeats itself to its limit would leave no
 * room for another try.
 */
function nextConversation(request: string, said: string, trouble: string): ChatMessage[] {
  // Some servers refuse an empty message.
  if (said === '') return [{ role: 'user', content: `${request}\n\n${trouble}` }];
  return [
    { role: 'user', content: request },
    { role: 'assistant', content: said.slice(0, MAX_REPEATED_CHARS) },
    { role: 'user', content: trouble },
  ];
}

function checkOf({ reward, tests }: Grade, by: string): Pick<Specification, 'check'> {
  if (reward === null) return {};
  return {
    check: { by, passed: tests.filter(({ status }) => status === 'passed').length, tests: tests.length },
  };
}

const passedBy = ({ check }: Specification): number => check?.passed ?? 0;

const ITEM = /^\s{0,9}(?:[-*•]|\d{1,3}[.)])\s+(\S.*)$/;

/** The items of a list; other lines are left aside, and so is the last line of a text that was cut off. */
function requirementsIn(text: string, { isCut }: { readonly isCut: boolean }): readonly string[] {
  const lines = text.split(/\r?\n/);
  return (isCut ? lines.slice(0, -1) : lines)
    .flatMap((line) => ITEM.exec(line)?.[1]?.trim() ?? [])
    .slice(0, MAX_REQUIREMENTS);
}

const draftRequest = ({
  description,
  reference,
}: ProgramTask): string => `A developer asked for this Python function:

<request>
${description}
</request>

This is the function that does what they want:

<code>
${reference}
</code>

Write down what the function has to do, for a programmer who reads the request and your list and will never see the
code. The function that they write must return the same for every input.
- Write a list: one requirement a line, each beginning with "- ", each a sentence in the words of somebody who uses the
  function.
- Say everything that decides a result: values and units, limits and whether they are included, rounding, order, ties,
  empty and invalid input, the form of the result.
- Do not repeat the request, except where it would mislead without the requirement.
- Write no code, no formulas with operators and no names of variables.

Write the list and nothing else.`;

const functionRequest = (
  { description }: Pick<ProgramTask, 'description'>,
  requirements: readonly string[],
): readonly ChatMessage[] => [
  {
    role: 'user',
    content: `Write the Python function that a developer asked for.

<request>
${description}
</request>

<requirements>
${inLines(requirements)}
</requirements>

Reply with the whole function in one block of Python.`,
  },
];

const NO_LIST = 'This is no list. Write the requirements again, one a line, each beginning with "- ".';

const CUT =
  'This is no list, and it did not end. Write the requirements again, each only once, one a line, each beginning with "- ".';

const leakComplaint = (passages: readonly string[]): string =>
  `This gives code away: ${passages.map((passage) => `“${passage}”`).join(', ')}. Write the whole list again, and say that in plain words without signs.`;

const failureComplaint = ({ passed, tests }: NonNullable<Specification['check']>): string =>
  `A programmer who read the request and this list wrote a function that passes ${passed} of ${tests} tests. Something is missing or can be misunderstood. Write the whole list again, more exactly.`;
