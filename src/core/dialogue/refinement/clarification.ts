import { parseAgentMessage } from '../protocol';
import type { ChatMessage } from '../../model/model';
import type { Disagreement } from './compareDrafts';

/** With the parameters' names, by which a reader knows what each value means. */
export const callInWords = ({ call, parameters }: Disagreement): string =>
  `${call.name}(${call.arguments.map((value, at) => `${parameters[at]!.name}=${value}`).join(', ')})`;

/** "For fee(days=3), should the result be 4 or 5?" */
export const clarifyingQuestion = (disagreement: Disagreement): string =>
  `For ${callInWords(disagreement)}, should the result be ${choiceInWords(disagreement)}?`;

function choiceInWords({ results }: Disagreement): string {
  const values = results.flatMap((result) => result ?? []);
  return values.length === results.length ? listed(values) : `${listed(values)}, or is that an error`;
}

const listed = (values: readonly string[]): string =>
  [values.slice(0, -1).join(', '), values.at(-1)!].filter((part) => part !== '').join(' or ');

/** How often the agent has asked about calls of the function. */
export const questionsAbout = (name: string, messages: readonly ChatMessage[]): number =>
  questionsIn(messages).filter((question) => question.includes(`${name}(`)).length;

/** The same choice at another call is the same question to a reader. */
export const isAskedIn = (messages: readonly ChatMessage[], disagreement: Disagreement): boolean =>
  questionsIn(messages).some(
    (question) =>
      question.includes(callInWords(disagreement)) ||
      question.endsWith(` should the result be ${choiceInWords(disagreement)}?`),
  );

function questionsIn(messages: readonly ChatMessage[]): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    const { visible, answer } = parseAgentMessage(content);
    return role === 'assistant' && answer === undefined ? [visible] : [];
  });
}

/**
 * Has a verifier word the question for a colleague who knows no code.
 * @param asked as `clarifyingQuestion` words it
 */
export function questionRequest(description: string, asked: string): readonly ChatMessage[] {
  const content = `A colleague wants a Python function and has described it like this:

${description}

The description leaves something open. Two programmers understood it differently, and the question between them is:

${asked}

Ask the colleague this in one short question of plain words. Name the call and the results, and if you can say what they hang on, say that too. Write only the question.`;
  return [{ role: 'user', content }];
}

/**
 * Has a verifier choose between drafts when nothing more can be asked.
 * @param asked as `clarifyingQuestion` words it
 */
export function choiceRequest(
  conversation: readonly ChatMessage[],
  drafts: readonly string[],
  asked: string,
): readonly ChatMessage[] {
  const numbered = drafts.map((draft, place) => `Answer ${place + 1}:\n\n${draft}`).join('\n\n');
  const content = `Here are ${drafts.length} answers to the conversation so far. They differ: ${asked}

${numbered}

Which one does what the colleague has said? Reply with its number only.`;
  const [last] = conversation.slice(-1);
  const open = last?.role === 'user' ? conversation.slice(0, -1) : conversation;
  return [
    ...open,
    { role: 'user', content: last?.role === 'user' ? `${last.content}\n\n${content}` : content },
  ];
}

/** Index of the chosen draft; undefined if the reply names none. */
export function choiceIn(reply: string, drafts: number): number | undefined {
  const number = Number(/\d+/.exec(parseAgentMessage(reply).visible)?.[0]);
  return number >= 1 && number <= drafts ? number - 1 : undefined;
}
