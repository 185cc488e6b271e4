import { developersOf, type Turn } from '../trajectory';
import { origin, type Rendered } from './rows';
import { argumentsOf, stepsOf, timeOf } from './steps';

/*
 * A dialogue in the Session Trace Simple Format of the Hugging Face Hub (huggingface.co/docs/hub/session-traces-format): a
 * header line with the harness, then a line for each message.
 */

export interface StsRow {
  readonly header: object;
  readonly messages: readonly object[];
}

interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly at: string | undefined;
  readonly [field: string]: unknown;
}

export function stsRow(of: Rendered): StsRow {
  const { trajectory, messages, consents } = of;
  const { id, turns, started, task } = trajectory;
  const opening = messages.slice(
    0,
    messages.findIndex(({ role }) => role === 'assistant'),
  );
  // As in `atifTrajectory`.
  const isTimed = [...developersOf(trajectory)].every((by) => consents.mayLeaveWithEdits(by));
  const said: Message[] = [
    ...opening.map(({ role, content }) => ({ role, content, at: timeOf(started) })),
    ...turns.flatMap((turn) => [...agentMessages(turn), ...userMessage(turn)]),
  ];
  return {
    header: { type: 'session', harness: 'tandem', id, name: task.id, tandem: origin(of) },
    messages: said.map(({ at, ...message }) => ({
      type: 'message',
      message: { ...message, timestamp: isTimed && at !== undefined ? Date.parse(at) : undefined },
    })),
  };
}

function agentMessages(turn: Turn): Message[] {
  const { text, model, reasoning } = turn.agent;
  const steps = stepsOf(turn);
  if (steps === undefined)
    return [{ role: 'assistant', content: text, at: timeOf(turn.agent), model, reasoningContent: reasoning }];
  return steps.flatMap((step): Message[] => {
    const { at, calls, results, thoughts } = step;
    if (step.isNote) return [{ role: 'system', content: step.text, at }];
    const toolCalls = calls.map((call) => ({
      id: call.id,
      function: { name: call.name, arguments: JSON.stringify(argumentsOf(call)) },
    }));
    return [
      {
        ...{ role: 'assistant', content: step.text, at, model, reasoningContent: thoughts },
        toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
      },
      ...results.map(({ id, text }): Message => ({ role: 'tool', content: text, at, toolCallId: id })),
    ];
  });
}

const userMessage = ({ reply }: Turn): Message[] =>
  reply === undefined ? [] : [{ role: 'user', content: reply.text, at: timeOf(reply) }];
