import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { LocalModel } from '../../src/core/model/local/model';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startChatServer, type ChatServer } from '../fixtures/chat-server';
import { answer as reply, status } from '../fixtures/chat-server-replies';
import { asks } from '../fixtures/dialogue';
import { serveEnvironment } from '../fixtures/environment';
import { temporaryFolder } from '../fixtures/log';
import { runNeighbour, verifiersPython } from './python';

const TOKEN = { TANDEM_SERVE_TOKEN: 'a-secret' };

const message = z.object({ role: z.string(), content: z.string() });

/** An episode as verifiers keeps it: what it made of one dialogue. */
const episodeSchema = z.object({
  ok: z.boolean(),
  task: z.object({ data: z.object({ id: z.string(), prompt: z.string() }), key: z.string() }),
  errors: z.array(z.object({ message: z.string() })),
  traces: z.array(
    z.object({
      ok: z.boolean(),
      rewards: z.record(z.string(), z.object({ score: z.number(), weight: z.number() }).nullish()),
      metrics: z.record(z.string(), z.number().nullish()),
      info: z.object({ tandem_episode: z.string() }),
      nodes: z.array(z.object({ message, sampled: z.boolean() })),
    }),
  ),
});

const python = await verifiersPython();
const verified = it.skipIf(python === undefined);

/** Evaluates a model with the command line of verifiers, once for each of the first tasks. */
async function evaluated(server: string, policy: ChatServer, tasks: number) {
  const folder = await temporaryFolder();
  const args = [
    ...['tandem-taskset', '--env.taskset.url', server, '-m', 'policy', '--client.base-url', policy.url],
    ...['--client.api-key-var', 'UNSET', '-n', String(tasks), '-c', '8', '-o', folder, '--run.dir', 'run'],
    ...['--no-push', '--no-rich'],
  ];
  await runNeighbour(['-c', 'from verifiers.v1.cli.eval.main import main; main()', ...args], {
    python,
    env: { ...TOKEN, HOME: folder },
  });
  expect(await readdir(folder)).toContain('run');
  const lines = (await readFile(path.join(folder, 'run', 'traces.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => episodeSchema.parse(JSON.parse(line)));
}

verified(
  'verifiers evaluates the starter model on whole dialogues, with the rewards that the server gave',
  async () => {
    const data = await temporaryFolder();
    const model = new LocalModel({
      ...{ name: 'starter', folder: path.resolve('media/starter') },
      inference: path.resolve('dist/inference.js'),
    });
    await using policy = await startChatServer({
      reply: async ({ body }) => {
        const messages = body.messages.map(({ role, content }) => ({ role: role as 'user', content }));
        return reply((await model.generate(messages, { temperature: 0, maxTokens: 128 })).text);
      },
    });
    const tasks = 24;
    const options = { tasks: ['samples/workspace/starter-world.jsonl'], env: TOKEN };
    await using server = await serveEnvironment(['--data', data], options);
    const episodes = await evaluated(server.url, policy, tasks);
    await server.stop();
    await model.close();

    const log = await TrajectoryLog.open(data);
    expect(episodes).toHaveLength(tasks);
    const rewards = new Set<number>();
    for (const { ok, task, traces } of episodes) {
      const [{ info, rewards: given, metrics, nodes }] = traces as [(typeof traces)[number]];
      const logged = await log.trajectory(info.tandem_episode);
      const { reward, success } = logged!.grades[0]!.grade;
      expect([ok, task.data.id, task.key]).toEqual([true, logged!.task.id, logged!.task.id]);
      expect(given).toEqual({ tests_passed: { score: reward, weight: 1 } });
      expect(metrics).toEqual({ success: Number(success), answered: 1 });
      // The developer's words stand between the agent's, and only the agent's count as sampled.
      expect(nodes.map(({ message: { role }, sampled }) => [role, sampled])).toEqual(
        nodes.map((_, index) => (index % 2 === 0 ? ['user', false] : ['assistant', true])),
      );
      const heard = nodes.filter(({ sampled }) => !sampled).map(({ message: { content } }) => content);
      expect(heard).toEqual([
        task.data.prompt,
        ...logged!.turns.flatMap(({ reply: said }) => (said === undefined ? [] : [said.text])),
      ]);
      rewards.add(reward!);
    }
    await log.close();
    // Some answers are right and some are not, so that the rewards could be told from those of other episodes.
    expect(rewards.size).toBeGreaterThan(1);
  },
);

verified('verifiers counts an episode as failed, without a success, when the simulator fails', async () => {
  await using simulator = await startChatServer({
    reply: ({ index }) => (index === 0 ? reply('Above 20.') : status(400, { message: 'No such model' })),
  });
  await using policy = await startChatServer({ reply: () => reply(asks('From which weight on?')) });
  await using server = await serveEnvironment(['--simulator', `openai:m@${simulator.url}`], { env: TOKEN });
  const [episode] = await evaluated(server.url, policy, 1);
  expect(episode).toMatchObject({ ok: false, traces: [{ ok: false }] });
  expect(episode!.errors[0]!.message).toContain('No such model');
  expect(policy.requests).toHaveLength(2);
});
