import * as z from 'zod';
import { lazily } from '../lazily';
import { isProgram, programOf, type Task } from '../task/task';
import type { ExportOptions, Render } from '../trajectory/export/export';
import type { FormatId } from '../trajectory/export/formats';
import { isRole } from '../trajectory/searchTree';
import type { Trajectory, Turn } from '../trajectory/trajectory';
import type { ChatMessage } from '../model/model';
import { type AgentPrompt, agentPromptFor, type Prompts } from './prompts';
import { parseAgentMessage, type Protocol } from './protocol';
import { roleMessages } from './refinement/roleOutputs';

interface ConversationOpening {
  readonly description: string;
  readonly protocol: Protocol;
  /** `agent.md` by default. */
  readonly prompt?: AgentPrompt;
}

export interface Exchange {
  readonly agent: string;
  readonly reply?: string;
}

/**
 * Returns the conversation as the agent sees it: instructions and request, then its own messages whole (thoughts
 * included, as they were sampled) and the replies. There is no system message, because some chat templates refuse one.
 */
export function agentMessages(
  task: Task,
  turns: readonly Turn[],
  protocol: Protocol,
  prompts: Prompts,
): ChatMessage[] {
  const exchanges = turns.map(({ agent, reply }) => ({
    agent: agent.text,
    ...(reply && { reply: reply.text }),
  }));
  const opening = { description: task.description, protocol, prompt: agentPromptFor(task) };
  return exchangedMessages(opening, exchanges, prompts);
}

const openingSchema = lazily(() =>
  z.array(z.object({ role: z.enum(['system', 'user']), content: z.string() })),
);

/** A session that another program recorded, as its agent saw it; undefined for other dialogues. */
function sessionMessages({ task, started }: Trajectory, turns: readonly Turn[]): ChatMessage[] | undefined {
  if (started.imported?.harness === undefined) return undefined;
  const { data } = openingSchema().safeParse(turns[0]?.agent.imported?.input);
  const opening: ChatMessage[] = data ?? [{ role: 'user', content: task.description }];
  return [...opening, ...turns.flatMap(exchanged)];
}

const exchanged = ({ agent, reply }: Turn): ChatMessage[] => [
  { role: 'assistant', content: agent.text },
  ...(reply === undefined ? [] : [{ role: 'user', content: reply.text } as const]),
];

export function exchangedMessages(
  { description, protocol, prompt = 'agent.md' }: ConversationOpening,
  exchanges: readonly Exchange[],
  prompts: Prompts,
): ChatMessage[] {
  const { maxTurns, replyLimit } = protocol;
  const opening = prompts.render(prompt, { description, maxTurns, replyLimit });
  const messages: ChatMessage[] = [{ role: 'user', content: opening }];
  for (const { agent, reply } of exchanges) {
    messages.push({ role: 'assistant', content: agent });
    if (reply !== undefined) messages.push({ role: 'user', content: reply });
  }
  return messages;
}

/** True if the agent saw another agent.md. Imported trajectories name no version and count as the same. */
export function sawAnotherPrompt({ started, task }: Trajectory, prompts: Prompts): boolean {
  const file = agentPromptFor(task);
  const seen = started.prompts[file];
  return seen !== undefined && seen !== prompts.versionsFor(task)[file];
}

/** Renders the conversations of an export; rows of replies do not depend on what the agent read. */
export function rendering(
  format: FormatId,
  prompts: Prompts,
): { readonly render: Render } & Pick<ExportOptions, 'sawAnotherPrompt'> {
  if (format === 'replies' || format === 'edits')
    return { render: (trajectory) => replyMessages(trajectory, prompts) };
  const read = (trajectory: Trajectory, turns: readonly Turn[]): ChatMessage[] =>
    sessionMessages(trajectory, turns) ??
    agentMessages(trajectory.task, turns, trajectory.started.protocol, prompts);
  return {
    render: (trajectory) =>
      isRole(format)
        ? roleMessages(format, trajectory, (before) => read(trajectory, before))
        : read(trajectory, trajectory.turns),
    sawAnotherPrompt: (trajectory) => sawAnotherPrompt(trajectory, prompts),
  };
}

/** Holds the hidden information and what both sides said, never the agent's thoughts. */
export function simulatorMessages(
  task: Task,
  turns: readonly Turn[],
  protocol: Protocol,
  prompts: Prompts,
): ChatMessage[] {
  const content = prompts.render('simulator.md', {
    description: task.description,
    hiddenInformation: programOf(task).hiddenInformation,
    transcript: transcript(turns),
    replyLimit: protocol.replyLimit,
  });
  return [{ role: 'user', content }];
}

/** For each reply, the prompt that a simulator would have got in its place, and the reply. Empty for a web page. */
export function replyMessages(
  { task, turns, started: { protocol } }: Pick<Trajectory, 'task' | 'turns' | 'started'>,
  prompts: Prompts,
): ChatMessage[] {
  if (!isProgram(task)) return [];
  return turns.flatMap(({ agent, reply }, index) =>
    reply === undefined
      ? []
      : [
          ...simulatorMessages(task, [...turns.slice(0, index), { agent }], protocol, prompts),
          { role: 'assistant', content: reply.text },
        ],
  );
}

/** What both sides said, never the agent's thoughts. */
export function transcript(turns: readonly Turn[]): string {
  return turns
    .flatMap((turn) => [
      `Assistant: ${parseAgentMessage(turn.agent.text).visible}`,
      ...(turn.reply === undefined ? [] : [`You: ${turn.reply.text}`]),
    ])
    .join('\n\n');
}
