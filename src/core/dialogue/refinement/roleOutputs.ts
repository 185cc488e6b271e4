import type { ChatMessage, Selection } from '../../model/model';
import type { Role } from '../../trajectory/searchTree';
import type { Trajectory, Turn } from '../../trajectory/trajectory';
import { parseAgentMessage } from '../protocol';
import { choiceRequest, questionRequest } from './clarification';

/** Place at which another ending of a search tree leaves a dialogue. */
export interface BranchPoint {
  /** The turns that both have. */
  readonly before: readonly Turn[];
  /** That the verifier reads again. */
  readonly drafts?: Selection['candidates'];
}

/** Where another output of the role would follow; undefined if the role said nothing in this dialogue. */
export function branchPoint({ turns }: Pick<Trajectory, 'turns'>, role: Role): BranchPoint | undefined {
  const step = verifiedStep(turns);
  if (step === undefined) return undefined;
  const { at, selection } = step;
  if (role === 'generator') return { before: turns.slice(0, at) };
  if (selection.verifier === undefined) return undefined;
  if (role === 'verifier') return { before: turns.slice(0, at), drafts: selection.candidates };
  return selection.place === undefined && at + 1 < turns.length
    ? { before: turns.slice(0, at + 1) }
    : undefined;
}

/**
 * What the role read, and its first output as the last message; empty if it said nothing in this dialogue.
 * @param read the agent's messages before the turn that would follow these
 */
export function roleMessages(
  role: Role,
  { task, turns }: Pick<Trajectory, 'task' | 'turns'>,
  read: (before: readonly Turn[]) => readonly ChatMessage[],
): readonly ChatMessage[] {
  const step = verifiedStep(turns);
  if (step === undefined) return [];
  const { at, selection } = step;
  const until = (turn: number): readonly ChatMessage[] => read(turns.slice(0, turn));
  const { verifier, place } = selection;
  if (role === 'generator') return [...until(at), says(selection.candidates[0]?.text ?? '')];
  if (verifier === undefined) return [];
  if (role === 'refiner') {
    const said = place === undefined ? turns[at + 1]?.agent.text : undefined;
    return said === undefined ? [] : [...until(at + 1), says(said)];
  }
  const request =
    place === undefined
      ? questionRequest(task.description, verifier.asked)
      : choiceRequest(until(at), answersIn(selection), verifier.asked);
  return [...request, says(verifier.text)];
}

const answersIn = ({ candidates }: Selection): readonly string[] =>
  candidates.flatMap(({ text = '' }) => parseAgentMessage(text).answer ?? []);

/** The first turn before which drafts were compared; a critic's candidates have no text. */
function verifiedStep(
  turns: readonly Turn[],
): { readonly at: number; readonly selection: Selection } | undefined {
  const at = turns.findIndex(({ agent }) => agent.selection?.candidates[0]?.text !== undefined);
  const selection = turns[at]?.agent.selection;
  return selection === undefined ? undefined : { at, selection };
}

const says = (content: string): ChatMessage => ({ role: 'assistant', content });
