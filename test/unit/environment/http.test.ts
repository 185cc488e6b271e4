import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { answerHttp } from '../../../src/core/environment/http';
import { EnvironmentServer } from '../../../src/core/environment/server';
import type { Grader } from '../../../src/core/grading/grader';
import { RequestMemory } from '../../../src/core/serving/messages';
import { environmentPlan, RawClient } from '../../fixtures/environment';
import { doubling } from '../../fixtures/log';

const withFacts = {
  ...doubling,
  facts: [{ topic: 'numbers', keywords: ['number'], answers: ['Whole ones.'] }],
};

it('gives back the place of a step whose task is not there', async () => {
  const plan = await environmentPlan([doubling], {} as Grader);
  let taken = 0;
  const enter = () => {
    taken += 1;
    return () => (taken -= 1);
  };
  const { signal } = new AbortController();
  const server = createServer((request, response) => {
    void answerHttp(request, response, { plan, enter, signal, memory: new RequestMemory() });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/step`, {
    method: 'POST',
    body: JSON.stringify({ action: { kind: 'ask', message: 'Which?' }, task_id: 'none' }),
  });
  expect(response.status).toBe(400);
  expect(taken).toBe(0);
});

it('holds no more of all clients’ messages than its memory, and gives it back', async () => {
  const server = await EnvironmentServer.start({
    ...{ plan: await environmentPlan([withFacts], {} as Grader), host: '127.0.0.1', port: 0, capacity: 8 },
    ...{ idleMilliseconds: 60_000, memory: new RequestMemory(100_000), onTrouble: () => undefined },
  });
  onTestFinished(() => server.close());
  const long = `OUTPUT:\nWhich${' '.repeat(60_000)}?`;
  const step = () =>
    fetch(`${server.address}/reset`, { method: 'POST', body: JSON.stringify({ episode_id: null, long }) });
  const first = await RawClient.connect(server.address);
  await first.reset();
  expect(await first.say(long)).toMatchObject({ type: 'observation' });
  const second = await RawClient.connect(server.address);
  second.socket.send(long, { fin: false });
  expect(await second.next()).toMatchObject({ type: 'error', data: { code: 'CAPACITY_REACHED' } });
  await second.closed;
  expect((await step()).status).toBe(503);
  await first.reset();
  expect((await step()).status).toBe(200);
  expect(await first.say(long)).toMatchObject({ type: 'observation' });
  first.socket.close();
  await first.closed;
  await expect.poll(async () => (await step()).status).toBe(200);
});
