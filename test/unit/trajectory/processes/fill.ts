// Appends durable turns, trying each up to three times, and prints the result of each try.
import { doubling } from '../../../fixtures/log-task';
import { messageOf } from '../../../../src/core/fault';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import { TrajectoryLog } from '../../../../src/core/trajectory/log';

const [folder] = process.argv.slice(2) as [string];
const log = await TrajectoryLog.open(folder);
const episode = 'e1';

async function logged(event: NewEvent): Promise<boolean> {
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      await log.append(event, { durable: true });
      process.stdout.write('logged\n');
      return true;
    } catch (error) {
      process.stdout.write(`refused: ${messageOf(error)}\n`);
    }
  }
  return false;
}

await log.recordTask(doubling);
const started = await logged({
  event: 'episode-started',
  episode,
  task: doubling.id,
  agent: 'openai:agent',
  collaborator: { kind: 'simulator', name: 'rules' },
  protocol: { maxTurns: 100, replyLimit: 400 },
  prompts: {},
  seed: 0,
});
for (let turn = 1; started && turn <= 60; turn += 1) {
  const text = `${turn} `.repeat(300);
  await logged({ event: 'agent-turn', episode, turn, text, finishReason: 'stop', model: 'agent' });
}
await log.close();
