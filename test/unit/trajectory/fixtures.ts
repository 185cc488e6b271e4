import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Collaborator, NewEvent, Picked } from '../../../src/core/trajectory/event';
import { TrajectoryLog, type LogOptions } from '../../../src/core/trajectory/log';
import { doubling } from './fixture-task';
import type { Task } from '../../../src/core/task/task';

export { doubling };

export const simulator: Collaborator = { kind: 'simulator', name: 'openai:simulator' };
export const kim: Collaborator = { kind: 'developer', name: 'kim' };

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens the log of a folder, by default of a new one; closed when the test is over. */
export async function openLog(folder?: string, options?: LogOptions): Promise<TrajectoryLog> {
  const log = await TrajectoryLog.open(folder ?? (await temporaryFolder()), options);
  onTestFinished(() => log.close());
  return log;
}

type Started = Extract<NewEvent, { event: 'episode-started' }>;

export function started(episode: string, fields: Partial<Started> = {}): Started {
  return {
    event: 'episode-started',
    episode,
    task: doubling.id,
    agent: 'openai:agent',
    collaborator: simulator,
    protocol: { maxTurns: 10, replyLimit: 400 },
    prompts: { 'agent.md': 'a1' },
    seed: 7,
    ...fields,
  };
}

export function agentTurn(episode: string, turn: number, text = `OUTPUT: question ${turn}?`): NewEvent {
  const sampling = { temperature: 1, maxTokens: 100 };
  return { event: 'agent-turn', episode, turn, text, finishReason: 'stop', model: 'agent', sampling };
}

export function reply(episode: string, turn: number, by: Collaborator = simulator): NewEvent {
  const author = by.kind === 'developer' ? 'developer' : 'simulator';
  return { event: 'reply', episode, turn, text: `reply ${turn} of ${by.name}`, author, by: by.name };
}

/** Two candidates for a turn, by these agents. */
export function candidates(
  episode: string,
  turn: number,
  agents: readonly [string, string] = ['openai:agent', 'openai:rival'],
): Extract<NewEvent, { event: 'candidates' }> {
  const [first, second] = agents.map((agent, place) => ({
    agent,
    text: `OUTPUT: candidate ${place} for ${turn}?`,
    finishReason: 'stop' as const,
    model: agent,
    sampling: { temperature: 1, maxTokens: 100, seed: place },
  }));
  return { event: 'candidates', episode, turn, candidates: [first!, second!] };
}

export function choice(episode: string, turn: number, picked: Picked, by = kim.name): NewEvent {
  return { event: 'choice', episode, turn, picked, by, milliseconds: 1500 };
}

/** What a person says of a critic's word on a turn; without `agrees` it is taken back. */
export function verdict(
  episode: string,
  turn: number,
  agrees: boolean | undefined,
  fields: { readonly critic?: string; readonly advantage?: number; readonly by?: string } = {},
): NewEvent {
  const { critic = 'critic-1', advantage = 0.25, by = kim.name } = fields;
  const said = agrees === undefined ? {} : { agrees };
  return { event: 'credit-verdict', episode, turn, critic, advantage, by, ...said };
}

export function leak(episode: string, turn: number, fraction = 0, leaked = false): NewEvent {
  return { event: 'leak', episode, turn, fraction, leaked };
}

export function answered(episode: string, turn: number, answer = doubling.reference): NewEvent {
  return { event: 'answered', episode, turn, answer, reason: 'answered' };
}

export function graded(episode: string, reward: number, mode: 'fixed' | 'paper' = 'fixed'): NewEvent {
  return { event: 'grade', episode, grade: { mode, reward, success: reward === 1, tests: [] } };
}

/** A whole dialogue of two turns. */
export function dialogue(episode: string, reward: number, fields: Partial<Started> = {}): NewEvent[] {
  const by = fields.collaborator ?? simulator;
  return [
    started(episode, fields),
    agentTurn(episode, 1),
    reply(episode, 1, by),
    leak(episode, 1, 0.1),
    agentTurn(episode, 2, 'thinking OUTPUT: I WANT TO ANSWER: def double(n): return 2 * n'),
    answered(episode, 2),
    graded(episode, reward),
  ];
}

export async function play(
  log: TrajectoryLog,
  episode: string,
  reward: number,
  fields: Partial<Started> = {},
  task: Task = doubling,
): Promise<void> {
  await log.recordTask(task);
  await log.appendAll(dialogue(episode, reward, { task: task.id, ...fields }));
}
