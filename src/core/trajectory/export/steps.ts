import { isObject, jsonOrUndefined } from '../../json';
import type { EventOf } from '../event';
import type { Turn } from '../trajectory';

/** When it was said. An imported line came into the log at another time, and may have none. */
export const timeOf = ({
  at,
  imported,
}: EventOf<'agent-turn' | 'reply' | 'episode-started'>): string | undefined =>
  imported === undefined ? at : imported.at;

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

interface ToolResult {
  readonly id: string | undefined;
  readonly text: string;
}

/** One message of the agent with the tools that it called, or words of the program. */
export interface TurnStep {
  readonly at: string | undefined;
  readonly text: string;
  readonly isNote: boolean;
  readonly thoughts?: string;
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResult[];
}

/** A turn of an imported session is several steps; undefined for a turn that is one message. */
export function stepsOf({ agent }: Turn): TurnStep[] | undefined {
  const { parts } = agent.imported ?? {};
  if (parts === undefined) return undefined;
  const steps: (TurnStep & { text: string; thoughts?: string; calls: ToolCall[]; results: ToolResult[] })[] =
    [];
  let number = 0;
  for (const { kind, text, name, id, at = timeOf(agent) } of parts) {
    const before = steps.at(-1);
    const isOpen =
      before !== undefined && !before.isNote && before.calls.length + before.results.length === 0;
    const goesOn =
      before !== undefined &&
      !before.isNote &&
      (kind === 'call' ? before.results.length === 0 : kind === 'result' || (isOpen && before.text === ''));
    const step = goesOn ? before : { at, text: '', isNote: kind === 'note', calls: [], results: [] };
    if (!goesOn) steps.push(step);
    if (kind === 'call') {
      number += 1;
      step.calls.push({ id: id ?? `call-${agent.turn}-${number}`, name: name ?? 'tool', text });
    } else if (kind === 'result') {
      const caller = steps.find(({ calls }) => calls.some((call) => call.id === id));
      (caller ?? step).results.push({ id: caller && id, text });
    } else if (kind === 'thoughts') {
      step.thoughts = step.thoughts === undefined ? text : `${step.thoughts}\n\n${text}`;
    } else step.text = text;
  }
  return steps.filter(
    ({ text, thoughts, calls, results }) =>
      text !== '' || thoughts !== undefined || calls.length + results.length > 0,
  );
}

/** Tools that take a text have it under `input`. */
export function argumentsOf({ text }: ToolCall): object {
  const value = jsonOrUndefined(text);
  return isObject(value) ? value : { input: text };
}
