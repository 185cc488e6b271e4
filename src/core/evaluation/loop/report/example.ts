import { parseAgentMessage } from '../../../dialogue/protocol';
import type { Trajectory } from '../../../trajectory/trajectory';
import { escaped, fenced } from '../../../markdown';

/** The same task before and after training. */
export interface Example {
  readonly before: Trajectory;
  readonly after: Trajectory;
}

/** The task as the agent sees it, then both dialogues. */
export function exampleInMarkdown({ before, after }: Example): string {
  return [
    quoted(before.task.description),
    `#### Before: ${outcomeOf(before)}`,
    dialogueOf(before),
    `#### After: ${outcomeOf(after)}`,
    dialogueOf(after),
    '<details><summary>What was wanted: the hidden reference</summary>',
    python(before.task.reference),
    '</details>',
  ].join('\n\n');
}

export function outcomeOf({ grades }: Trajectory): string {
  const tests = grades.at(-1)?.grade.tests ?? [];
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return `${passed} of ${tests.length} tests passed`;
}

function dialogueOf({ turns, answer }: Trajectory): string {
  return turns
    .flatMap(({ agent, reply }) => {
      if (reply === undefined)
        return [`**agent answers**\n\n${python(codeOf(answer?.answer ?? agent.text))}`];
      return [
        `**agent** ${oneLine(parseAgentMessage(agent.text).visible)}`,
        `**collaborator** ${oneLine(reply.text)}`,
      ];
    })
    .join('\n\n');
}

const FENCE = /^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/;

/** Removes the fence around an answer. */
const codeOf = (answer: string): string => FENCE.exec(answer)?.[1] ?? answer;

const python = (code: string): string => fenced(code.trim(), 'python');

const quoted = (text: string): string =>
  escaped(text)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

const oneLine = (text: string): string => escaped(text.replaceAll(/\s+/g, ' ').trim());
