import { afterEach, describe, expect, it } from 'vitest';
import { openModel } from '../../../src/core/model/spec';
import { maySee } from '../../../src/core/model/model';
import { startChatServer, type ChatRequest, type ChatServer } from '../../fixtures/chat-server';
import { answer, status, type Reply } from '../../fixtures/chat-server-replies';

const servers: ChatServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A model called `m`, which a server has. */
async function modelOn(tells: Record<string, unknown>, reply: Reply = answer('red and blue')) {
  const server = await startChatServer({ reply: () => reply, tells });
  servers.push(server);
  const model = openModel(`openai:m@${server.url}`, { retry: { attempts: 1 } });
  if (!maySee(model)) throw new Error('A model on a server may see.');
  return { model, server };
}

const list = (fields: object) => ({
  '/v1/models': { object: 'list', data: [{ id: 'n' }, { id: 'm', ...fields }] },
});

const modalities = (...input_modalities: string[]) => ({ architecture: { input_modalities } });

describe('a model on a server', () => {
  it.each([
    ['llama.cpp with a projector', { '/props': { modalities: { vision: true, audio: false } } }, true],
    ['llama.cpp without one', { '/props': { modalities: { vision: false, audio: false } } }, false],
    ['OpenRouter', list(modalities('text', 'image')), true],
    ['OpenRouter, for text', list(modalities('text')), false],
    ['Mistral', list({ capabilities: { completion_chat: true, vision: true } }), true],
    ['Ollama', { '/api/show': { capabilities: ['completion', 'vision'] } }, true],
    ['Ollama, for text', { '/api/show': { capabilities: ['completion', 'tools'] } }, false],
    ['LM Studio', { '/api/v1/models': { models: [{ key: 'm', capabilities: { vision: true } }] } }, true],
  ])('sees or not as its server says: %s', async (_, tells, sees) => {
    const { model, server } = await modelOn(tells);
    expect(await model.sees()).toBe(sees);
    expect(server.requests).toHaveLength(0);
    expect(model.notes?.length).toBe(sees ? 0 : 1);
  });

  it.each([
    ['names the colors', answer('Yellow, then green.'), true],
    ['names others', answer('I would say red and blue.'), false],
    ['refuses', status(400, { message: 'm is not a multimodal model' }), false],
    ['fails at it', status(500, { message: 'Internal Server Error' }), false],
  ])('is shown a picture where the server says nothing, and sees if it %s', async (how, reply, sees) => {
    const { model, server } = await modelOn(list({ owned_by: 'vllm' }), reply);
    expect(await model.sees()).toBe(sees);
    const [, picture] = partsOf(server.requests[0]!);
    expect(picture?.image_url?.url).toMatch(/^data:image\/png;base64,iVBOR/);
    if (!sees)
      expect(model.notes?.at(-1)).toMatch(
        how === 'names others' ? /does not name the colors/ : /refuses a test picture/,
      );
  });

  it('is asked once, however often it is opened', async () => {
    const { model, server } = await modelOn({}, answer('Yellow, green'));
    expect(await Promise.all([model.sees(), model.sees()])).toEqual([true, true]);
    const again = openModel(`openai:m@${server.url}`);
    expect(maySee(again) && (await again.sees())).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('is asked again after a server that could not be asked', async () => {
    const replies = [status(401, { message: 'No key' }), answer('Yellow, green')];
    const server = await startChatServer({ reply: ({ index }) => replies[index]! });
    servers.push(server);
    const model = openModel(`openai:m@${server.url}`, { retry: { attempts: 1 } });
    if (!maySee(model)) throw new Error('A model on a server may see.');
    await expect(model.sees()).rejects.toMatchObject({ code: 'model/unauthorized' });
    expect(await model.sees()).toBe(true);
  });

  it('sees with several servers only if each does', async () => {
    const [one, two] = [
      await modelOn({ '/props': { modalities: { vision: true } } }),
      await modelOn({ '/props': { modalities: { vision: false } } }),
    ];
    const pool = openModel(`openai:m@${one.server.url},${two.server.url}`);
    expect(maySee(pool) && (await pool.sees())).toBe(false);
  });
});

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

const partsOf = ({ body }: ChatRequest): readonly Part[] =>
  body.messages[0]!.content as unknown as readonly Part[];
