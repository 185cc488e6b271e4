import { afterEach, expect, it } from 'vitest';
import { OpenAiModel } from '../../../src/core/model/openai';
import { startChatServer, type ChatRequest, type ChatServer } from '../../fixtures/chat-server';
import { answer, status, type Reply } from '../../fixtures/chat-server-replies';

const servers: ChatServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function modelOn(reply: (request: ChatRequest) => Reply) {
  const server = await startChatServer({ reply });
  servers.push(server);
  return { server, model: new OpenAiModel({ model: 'm', baseUrl: server.url, retry: { attempts: 1 } }) };
}

const asksForBoth = ({ body }: ChatRequest): boolean => {
  const fields = body as { continue_final_message?: boolean; add_generation_prompt?: boolean };
  return fields.continue_final_message === true && fields.add_generation_prompt === true;
};

const CONTRADICTION = 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.';

it('begins the message for a server that refuses the contradiction, and gives all of it back', async () => {
  const { model, server } = await modelOn((request) =>
    asksForBoth(request) ? status(400, { message: CONTRADICTION }) : answer(' 42'),
  );
  expect(await model.forcesOpening()).toBe(true);
  const openings = ['The answer:', 'Answer:'];
  const { text } = await model.generate(
    [{ role: 'user', content: 'Which?' }],
    { temperature: 0, maxTokens: 9 },
    { openings },
  );
  expect(text).toBe('The answer: 42');
  expect(server.requests.at(-1)!.body).toMatchObject({
    continue_final_message: true,
    add_generation_prompt: false,
    messages: [
      { role: 'user', content: 'Which?' },
      { role: 'assistant', content: 'The answer:' },
    ],
  });
  // The server is asked once.
  expect(await model.forcesOpening()).toBe(true);
  expect(server.requests).toHaveLength(2);
});

it.each([
  ['passes over the fields', () => answer('es')],
  [
    'does not know them',
    () =>
      status(400, {
        message: 'Unrecognized request arguments: continue_final_message, add_generation_prompt',
      }),
  ],
  [
    'refuses a last message of the model',
    () => status(400, { message: 'The last message must be of the user.' }),
  ],
])('does not begin the message for a server that %s', async (_, reply) => {
  const { model } = await modelOn(reply);
  expect(await model.forcesOpening()).toBe(false);
});
