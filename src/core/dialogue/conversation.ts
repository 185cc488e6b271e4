import type { Task } from '../task/task';
import type { Trajectory, Turn } from '../trajectory/trajectory';
import type { ChatMessage } from '../model/model';
import type { Prompts } from './prompts';
import { parseAgentMessage, type Protocol } from './protocol';

/**
 * The conversation as the agent sees it: instructions and request, then its own messages whole (thoughts included, as
 * they were sampled) and the replies. There is no system message, because some chat templates refuse one.
 */
export function agentMessages(
  task: Task,
  turns: readonly Turn[],
  protocol: Protocol,
  prompts: Prompts,
): ChatMessage[] {
  const opening = prompts.render('agent.md', {
    description: task.description,
    maxTurns: protocol.maxTurns,
    replyLimit: protocol.replyLimit,
  });
  const messages: ChatMessage[] = [{ role: 'user', content: opening }];
  for (const turn of turns) {
    messages.push({ role: 'assistant', content: turn.agent.text });
    if (turn.reply !== undefined) messages.push({ role: 'user', content: turn.reply.text });
  }
  return messages;
}

/** Whether the agent saw another agent.md than this one. Imported trajectories name none: nothing better is known. */
export function sawAnotherPrompt({ started }: Trajectory, prompts: Prompts): boolean {
  const seen = started.prompts['agent.md'];
  return seen !== undefined && seen !== prompts.versions['agent.md'];
}

/** What the simulator is asked: it sees the hidden information and what both sides said, never the agent's thoughts. */
export function simulatorMessages(
  task: Task,
  turns: readonly Turn[],
  protocol: Protocol,
  prompts: Prompts,
): ChatMessage[] {
  const content = prompts.render('simulator.md', {
    description: task.description,
    hiddenInformation: task.hiddenInformation,
    transcript: transcript(turns),
    replyLimit: protocol.replyLimit,
  });
  return [{ role: 'user', content }];
}

function transcript(turns: readonly Turn[]): string {
  return turns
    .flatMap((turn) => [
      `Assistant: ${parseAgentMessage(turn.agent.text).visible}`,
      ...(turn.reply === undefined ? [] : [`You: ${turn.reply.text}`]),
    ])
    .join('\n\n');
}
