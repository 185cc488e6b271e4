// Appends durable turns endlessly, and prints the number of each acknowledged one.
import { doubling } from '../../../fixtures/log-task';
import { TrajectoryLog } from '../../../../src/core/trajectory/log';

const [folder, name] = process.argv.slice(2) as [string, string];
const log = await TrajectoryLog.open(folder, { segmentBytes: 40_000 });
await log.recordTask(doubling);
for (let number = 0; ; number += 1) {
  const episode = `${name}-${number}`;
  await log.append({
    event: 'episode-started',
    episode,
    task: doubling.id,
    agent: 'openai:agent',
    collaborator: { kind: 'simulator', name: 'rules' },
    protocol: { maxTurns: 10, replyLimit: 400 },
    prompts: {},
    seed: number,
  });
  // Several appends of different length run at once, so that a kill may hit the middle of a shared write.
  await Promise.all(
    [1, 2, 3].map(async (turn) => {
      await log.append(
        {
          event: 'agent-turn',
          episode,
          turn,
          text: `${episode} `.repeat(turn * turn * 60),
          finishReason: 'stop',
          model: 'agent',
          sampling: { temperature: 1, maxTokens: 100 },
        },
        { durable: true },
      );
      process.stdout.write(`${number} ${turn}\n`);
    }),
  );
}
