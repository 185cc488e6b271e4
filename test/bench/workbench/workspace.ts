import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterTask } from '../../fixtures/dialogue';
import { generateLog } from '../log/generate';

/** Turns of the long dialogue; the last one awaits the developer, and the agent has one more turn. */
export const TURNS = 200;

/** Creates the sample workspace with a log as collections write it, its index, and a newest dialogue of 200 turns. */
export async function prepareWorkspace(trajectories: number, agent: string): Promise<string> {
  const workspace = await mkdtemp(path.join(os.tmpdir(), 'tandem-workbench-bench-'));
  await cp(path.resolve('samples', 'workspace'), workspace, { recursive: true });
  for (const name of ['starter-world', 'web-pages']) await rm(path.join(workspace, `${name}.jsonl`));
  await writeFile(
    path.join(workspace, '.vscode', 'settings.json'),
    JSON.stringify({ 'tandem.agent': agent, 'tandem.session.openReference': false }),
  );
  const data = path.join(workspace, '.tandem');
  await generateLog(data, trajectories);
  const log = await TrajectoryLog.open(data);
  const task = await starterTask();
  await log.recordTask(task);
  const episode = 'long';
  await log.append({
    ...{ event: 'episode-started', episode, task: task.id, agent: 'long', seed: 1, prompts: {} },
    collaborator: { kind: 'developer', name: 'ada' },
    protocol: { maxTurns: TURNS + 1, replyLimit: 400 },
  });
  await log.appendAll(
    Array.from({ length: TURNS }, (_, index) => index + 1).flatMap((turn): NewEvent[] => [
      { ...said(turn), episode },
      ...(turn === TURNS ? [] : [{ ...reply(turn), episode }]),
    ]),
  );
  await log.close();
  return workspace;
}

const said = (turn: number) =>
  ({
    event: 'agent-turn',
    turn,
    text: `Two cases are left.\nOUTPUT:\n**Question ${turn}**: what comes out for a list that is empty, and for one with a single value?\n\n\`\`\`python\nassert solve([${turn}]) == ${turn}\n\`\`\``,
    finishReason: 'stop',
    model: 'long',
    sampling: { temperature: 1, maxTokens: 200 },
  }) as const;

const reply = (turn: number) =>
  ({
    event: 'reply',
    turn,
    text: `For an empty list nothing, for a single value that value, so that ${turn} gives ${turn}.`,
    author: 'simulator',
    by: 'rules',
  }) as const;
