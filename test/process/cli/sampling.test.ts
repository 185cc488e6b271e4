import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { startChatServer } from '../../fixtures/chat-server';
import { answer, status } from '../../fixtures/chat-server-replies';
import { answers, starterPack } from '../../fixtures/dialogue';
import { temporaryFolder } from '../../fixtures/log';
import { runNode } from '../../fixtures/tasks';

afterEach(() => vi.unstubAllEnvs());

it('tandem collect samples as the options say, names what the server refuses, and logs both', async () => {
  const data = await temporaryFolder();
  vi.stubEnv('TANDEM_CACHE', data);
  const server = await startChatServer({
    reply: ({ body }) =>
      'typical_p' in body
        ? status(400, { message: 'Unknown parameter: typical_p' })
        : answer(answers('def f(): return 1')),
  });
  onTestFinished(() => server.close());
  const { code, stdout } = await runNode([
    ...['dist/tandem.js', 'collect', '--tasks', starterPack, '--limit', '1', '--jobs', '1', '--data', data],
    ...['--agent', `openai:m@${server.url}`, '--simulator', 'rules'],
    ...['--temperature', '0.8', '--top-p', '0.9', '--top-k', '20', '--min-p', '0.05'],
  ]);
  expect(code).toBe(0);
  expect(server.requests.at(-1)?.body).toMatchObject({
    temperature: 0.8,
    top_p: 0.9,
    top_k: 20,
    min_p: 0.05,
    mirostat: 0,
  });
  expect(stdout).toContain(`The server at ${server.url} refuses "typical_p"; its own values`);
  const log = await TrajectoryLog.open(data);
  onTestFinished(() => log.close());
  const [row] = log.list({ offset: 0, limit: 1 }).rows;
  const { turns } = (await log.trajectory(row!.id))!;
  expect(turns[0]!.agent.sampling).toMatchObject({
    ...{ temperature: 0.8, topP: 0.9, topK: 20, minP: 0.05 },
    server: { refused: ['typical_p'] },
  });
});
