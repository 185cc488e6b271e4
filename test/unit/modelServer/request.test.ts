import { describe, expect, it } from 'vitest';
import { ApiRefusal } from '../../../src/core/modelServer/request';
import { readChatRequest } from '../../../src/core/modelServer/request';
import { NEUTRAL } from '../../../src/core/model/chat/dialect';

const messages = [{ role: 'user', content: 'Hello' }];
const read = (fields: object) => readChatRequest({ model: 'm', messages, ...fields });

function refusalOf(body: unknown): ApiRefusal {
  try {
    readChatRequest(body);
  } catch (error) {
    if (error instanceof ApiRefusal) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('a request for a chat completion', () => {
  it('has the defaults of the API', () => {
    expect(read({})).toEqual({
      model: 'm',
      messages,
      sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, maxTokens: 2048, stop: [], seed: undefined },
      ...{ n: 1, stream: false, includeUsage: false, logprobs: false, topLogprobs: 0 },
      ...{ tokenIds: false, tokensAsIds: false },
    });
  });

  it('takes null for a field that is not set', () => {
    const unset = ['temperature', 'top_p', 'stop', 'seed', 'n', 'tools', 'response_format', 'max_tokens'];
    expect(read(Object.fromEntries(unset.map((field) => [field, null])))).toEqual(read({}));
  });

  it('takes what asks for nothing, and what changes nothing about an answer', () => {
    const idle = {
      ...{ user: 'ada', metadata: { a: 'b' }, store: true, parallel_tool_calls: true },
      ...{ tools: [], tool_choice: 'none', logit_bias: {}, response_format: { type: 'text', schema: null } },
      ...{ stop: '', max_tokens: -1, max_completion_tokens: 0, seed: -1, n: 1, skip_special_tokens: true },
      stream_options: { include_usage: null, include_obfuscation: false },
    };
    expect(read({ ...NEUTRAL, ...idle })).toEqual(read({}));
    const reread = { role: 'assistant', content: 'Hi', refusal: null, tool_calls: [], audio: null };
    expect(read({ messages: [reread] }).messages).toEqual([{ role: 'assistant', content: 'Hi' }]);
  });

  it('takes the text of messages that say more to other servers', () => {
    const cached = { cache_control: { type: 'ephemeral' } };
    const parts = ['a', { type: 'text', text: 'b', ...cached }, { type: 'input_text', text: 'c' }];
    const sent = [
      { role: 'user', name: 'ada', content: parts, ...cached },
      { role: 'assistant', content: null, reasoning_content: 'Hm.', id: 'm1', tool_calls: [] },
    ];
    expect(read({ messages: sent }).messages).toEqual([
      { role: 'user', content: 'abc' },
      { role: 'assistant', content: '' },
    ]);
  });

  it('stops at the strings that are not empty, and takes the limit of tokens that is one', () => {
    expect(read({ stop: ['', null, '?'] }).sampling.stop).toEqual(['?']);
    expect(read({ max_tokens: -1, max_completion_tokens: 7 }).sampling.maxTokens).toBe(7);
  });

  it.each<[string, object]>([
    ['temperature', { temperature: -1 }],
    ['top_p', { top_p: 2 }],
    ['top_k', { top_k: 1.5 }],
    ['min_p', { min_p: 1.5 }],
    ['max_tokens', { max_tokens: -2 }],
    ['max_tokens', { max_tokens: 5, max_completion_tokens: 6 }],
    ['stop', { stop: 'x'.repeat(257) }],
    ['seed', { seed: 1e300 }],
    ['n', { n: 129 }],
    ['stream_options', { stream: true, stream_options: { other: 1 } }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['tools', { tools: [{ type: 'function' }] }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['logit_bias', { logit_bias: { 50: -100 } }],
    ['presence_penalty', { presence_penalty: 0.5 }],
    ['samplers', { samplers: ['min_p'] }],
    ['model', { model: undefined }],
    ['messages', { messages: [] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].tool_calls', { messages: [{ role: 'assistant', content: 'x', tool_calls: [{}] }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: null }] }],
    ['messages[0].content[1]', { messages: [{ role: 'user', content: [{ type: 'text', text: '' }, {}] }] }],
    [
      'messages[0].content[0]',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
    ],
  ])('is refused for its %s: %j', (param, fields) => {
    const refusal = refusalOf({ model: 'm', messages, ...fields });
    expect(refusal).toMatchObject({ status: 400, param });
    expect(refusal.message).toContain(param);
    expect(refusal.body).toEqual({
      error: { message: refusal.message, type: 'invalid_request_error', param, code: refusal.code },
    });
  });

  it.each([[null], [[]], ['text'], [3]])('is refused when it is %j', (body) => {
    expect(refusalOf(body)).toMatchObject({ param: null, message: 'The body must be a JSON object.' });
  });
});
