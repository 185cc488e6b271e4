import { Fault } from '../../fault';
import type { ChatMessage } from '../../model/model';
import { factsOf, type ProgramTask, type Specification, type Task } from '../../task/task';
import { taskTitle } from '../../task/title';
import { leakedPassages } from '../leak';
import type { Prompts } from '../prompts';
import { PERSONAS, type Persona } from './specificationSpec';

/**
 * Whether requirements suffice: `facts` are the task's own; `passed` and `failed` say how a function did that was
 * written from them alone; nobody has tried the others.
 */
export type SpecificationState = 'facts' | 'passed' | 'failed' | 'unchecked';

/** The state is that of the requirements. */
export interface GivenSpecification {
  readonly requirements: readonly string[];
  readonly state: SpecificationState;
}

/** Facts come first: their author wrote them, and no model. Undefined for a task with neither. */
export function specificationOf(task: Task): GivenSpecification | undefined {
  const facts = factsOf(task);
  if (facts.length > 0)
    return {
      requirements: facts.map(({ topic, answers: [wording] }) => `${topic}: ${wording}`),
      state: 'facts',
    };
  const specification = task.kind === undefined ? task.specification : undefined;
  if (specification === undefined) return undefined;
  return { requirements: specification.requirements, state: stateOf(specification) };
}

/** @throws {Fault} `dialogue/no-specification` */
export function requiredSpecification(task: ProgramTask): GivenSpecification {
  const specification = specificationOf(task);
  if (specification !== undefined) {
    refuseCode(task, specification);
    return specification;
  }
  throw new Fault(
    'dialogue/no-specification',
    `The task “${taskTitle(task)}” has neither facts nor a specification, which this simulator needs. Let tandem specify write one, or choose another simulator.`,
  );
}

/** A pack from elsewhere may hold anything; facts are what their author wants to be said. */
function refuseCode(task: ProgramTask, { requirements, state }: GivenSpecification): void {
  const [passage] = state === 'facts' ? [] : leakedPassages(task.reference, requirements.join('\n'));
  if (passage === undefined) return;
  throw new Fault(
    'dialogue/no-specification',
    `The specification of the task “${taskTitle(task)}” has code of its reference: “${passage}”. Say that in words.`,
  );
}

function stateOf({ check }: Specification): SpecificationState {
  if (check === undefined) return 'unchecked';
  return check.passed === check.tests ? 'passed' : 'failed';
}

/** All that a simulator with a specification is given. The reference has no place in it. */
export interface SpecifiedPosition {
  readonly request: string;
  readonly requirements: readonly string[];
  readonly persona: Persona;
  /** What both sides said, without the agent's thoughts. */
  readonly transcript: string;
  readonly replyLimit: number;
}

export function specifiedMessages(
  { request, requirements, persona, transcript, replyLimit }: SpecifiedPosition,
  prompts: Prompts,
): ChatMessage[] {
  const content = prompts.render('simulator-specification.md', {
    description: request,
    requirements: inLines(requirements),
    persona: PERSONAS[persona],
    ...{ transcript, replyLimit },
  });
  return [{ role: 'user', content }];
}

export const inLines = (requirements: readonly string[]): string =>
  requirements.map((requirement) => `- ${requirement}`).join('\n');

/** With which a simulator ends a dialogue; why stands behind it. */
const END = /^[\s*_]{0,9}I END THE CONVERSATION\b[\s.:*_]{0,9}/im;

/** Undefined unless the reply ends the dialogue. What was said before the marker is left aside. */
export function endingIn(reply: string): { readonly why: string } | undefined {
  const found = END.exec(reply);
  if (found === null) return undefined;
  const why = reply.slice(found.index + found[0].length).trim();
  return { why: why === '' ? 'I end the conversation.' : why };
}
