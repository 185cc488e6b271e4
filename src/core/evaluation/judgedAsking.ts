import { inFlight } from '../concurrency';
import { transcript } from '../dialogue/conversation';
import { parseAgentMessage } from '../dialogue/protocol';
import { replyIn } from '../dialogue/simulator';
import { specificationOf, type GivenSpecification } from '../dialogue/specification/specification';
import type { ChatMessage, Model } from '../model/model';
import type { Trajectory, Turn } from '../trajectory/trajectory';
import { askFigures, type AskCounts } from './askF1';
import { isFinished } from './figures';
import type { JudgedAsking } from './figureSchemas';

const SAMPLING = { temperature: 0, maxTokens: 1024 } as const;

interface JudgingOptions {
  readonly concurrency: number;
  readonly signal?: AbortSignal;
  /** Gets numbers of dialogues. */
  readonly onJudged?: (done: number, total: number) => void;
}

/**
 * Ask-F1 over the requirements of specifications. Tasks with facts are left out: their matcher needs no judge.
 * @throws what the judge throws
 */
export async function judgedAsking(
  trajectories: readonly Trajectory[],
  judge: Model,
  { concurrency, signal, onJudged }: JudgingOptions,
): Promise<JudgedAsking> {
  const counted: (AskCounts & { readonly task: string; readonly isDoubtful: boolean })[] = [];
  let unread = 0;
  const judged = trajectories.filter(isFinished).flatMap(({ task, turns }) => {
    const specification = specificationOf(task);
    const isJudged = specification !== undefined && specification.state !== 'facts';
    return isJudged ? [{ task, turns, specification }] : [];
  });
  await inFlight(judged, concurrency, async ({ task, turns, specification }) => {
    const counts = await countsOf(turns, specification, judge, signal);
    if (counts === undefined) unread++;
    else counted.push({ ...counts, task: task.id, isDoubtful: specification.state !== 'passed' });
    onJudged?.(counted.length + unread, judged.length);
  });
  return {
    judge: judge.name,
    dialogues: counted.length,
    doubtful: counted.filter(({ isDoubtful }) => isDoubtful).length,
    unread,
    ...askFigures(counted),
  };
}

/** @returns undefined when the judge cannot be understood */
async function countsOf(
  turns: readonly Turn[],
  { requirements }: GivenSpecification,
  judge: Model,
  signal?: AbortSignal,
): Promise<AskCounts | undefined> {
  const known = new Set<number>();
  let useless = 0;
  for (const [index, turn] of turns.entries()) {
    // The answer asks nothing.
    if (turn.reply === undefined) continue;
    const request = judgeRequest(
      requirements,
      turns.slice(0, index),
      parseAgentMessage(turn.agent.text).visible,
    );
    const { text, finishReason } = await judge.generate(request, SAMPLING, { signal });
    // A model that repeats itself to its limit would count the same question hundreds of times.
    if (finishReason === 'length') return undefined;
    const about = requirementsIn(replyIn(text), requirements.length);
    if (about === undefined) return undefined;
    for (const requirement of about) {
      if (requirement === 0 || known.has(requirement)) useless++;
      else known.add(requirement);
    }
  }
  return { asked: known.size, missed: requirements.length - known.size, useless };
}

/** A number by itself or as small models put it: `The answer is 0.`, `- Requirement 2`, `**3**`. */
const NUMBER_LINE =
  /^(?:[-*•] )?(?:(?:the )?(?:answer|requirement|number)(?:(?: number)?:?|\b\D{0,80} is:?) )?[*[(]{0,3}(\d{1,3})[*\]).]{0,4}$/i;

/** One number a line, from 0; lines without a digit are left aside, and any other line makes it undefined. */
function requirementsIn(text: string, count: number): readonly number[] | undefined {
  const numbers = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /\d/.test(line))
    .map((line) => Number(NUMBER_LINE.exec(line)?.[1] ?? NaN));
  return numbers.length > 0 && numbers.every((number) => number <= count) ? numbers : undefined;
}

function judgeRequest(
  requirements: readonly string[],
  before: readonly Turn[],
  message: string,
): readonly ChatMessage[] {
  const numbered = requirements.map((requirement, at) => `${at + 1}. ${requirement}`).join('\n');
  const content = `A programming assistant asks a developer about a function. The developer knows these requirements, the assistant does not:

<requirements>
${numbered}
</requirements>

The conversation so far:

<conversation>
${transcript(before)}
</conversation>

The assistant now says:

<message>
${message}
</message>

For each question in the message, write the number of the requirement that answers it, or 0 if none does. If the message
asks nothing, write 0 once. Write one number a line and nothing else.`;
  return [{ role: 'user', content }];
}
