import { askedIn } from '../dialogue/asked';
import { Matcher } from '../dialogue/matcher';
import { parseAgentMessage } from '../dialogue/protocol';
import type { Fact } from '../task/task';
import type { Trajectory } from '../trajectory/trajectory';

/** What an agent asked in one dialogue, by the facts of the task. */
export interface QuestionCounts {
  /** Hidden decisions that the task has. */
  readonly decisions: number;
  /** Those that were asked about at least once. */
  readonly asked: number;
  /** Those that were not: `decisions − asked`. */
  readonly missed: number;
  /** Questions about no decision, or about one that was asked before. A message that asks nothing counts as one. */
  readonly useless: number;
}

/**
 * Which decisions were asked about, by the matcher that the rule-based simulator answers with, whoever replied. The
 * answer itself asks nothing.
 * @returns undefined for a task without facts
 */
export function questionCounts({
  task,
  turns,
}: Pick<Trajectory, 'task' | 'turns'>): QuestionCounts | undefined {
  const { facts = [] } = task;
  if (facts.length === 0) return undefined;
  const matcher = new Matcher(facts, task.description);
  const known = new Set<Fact>();
  let useless = 0;
  let lastReply: string | undefined;
  for (const { agent, reply } of turns) {
    if (reply === undefined) continue;
    const asked = askedIn(parseAgentMessage(agent.text).visible, { facts, matcher, lastReply });
    // A second half that is about nothing by itself belongs to the first half.
    const counted = asked.filter(({ question, fact }) => fact !== undefined || !question.continues);
    if (counted.length === 0) useless += 1;
    for (const { fact } of counted) {
      if (fact === undefined || known.has(fact)) useless += 1;
      else known.add(fact);
    }
    lastReply = reply.text;
  }
  return { decisions: facts.length, asked: known.size, missed: facts.length - known.size, useless };
}
