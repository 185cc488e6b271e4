import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { answerHttp } from '../../../src/core/environment/http';
import type { Grader } from '../../../src/core/grading/grader';
import { environmentPlan } from '../../fixtures/environment';
import { doubling } from '../../fixtures/log';

it('gives back the place of a step whose task is not there', async () => {
  const plan = await environmentPlan([doubling], {} as Grader);
  let taken = 0;
  const enter = () => {
    taken += 1;
    return () => (taken -= 1);
  };
  const { signal } = new AbortController();
  const server = createServer((request, response) => {
    void answerHttp(request, response, { plan, enter, signal });
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
