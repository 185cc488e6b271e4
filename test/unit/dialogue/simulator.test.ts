import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ModelSimulator, type DialogueView } from '../../../src/core/dialogue/simulator';
import { colBenchProtocol } from '../../../src/core/dialogue/protocol';
import { OpenAiModel } from '../../../src/core/model/openai';
import type { EventOf } from '../../../src/core/trajectory/event';
import { startChatServer, type ChatServer } from '../../fixtures/chat-server';
import { answer, stallAfter } from '../../fixtures/chat-server-replies';
import { asks, shippedPrompts, starterTask } from '../../fixtures/dialogue';

let server: ChatServer;
let says: Parameters<typeof answer>;
let rambles: boolean;

beforeEach(async () => {
  rambles = false;
  server = await startChatServer({ reply: () => (rambles ? stallAfter : answer)(...says) });
});
afterEach(() => server.close());

const simulated = async (): Promise<ModelSimulator> =>
  new ModelSimulator(new OpenAiModel({ model: 's', baseUrl: server.url }), await shippedPrompts());

async function asked(): Promise<DialogueView> {
  const agent: EventOf<'agent-turn'> = {
    version: 1,
    at: '2026-01-01T00:00:00.000Z',
    event: 'agent-turn',
    episode: 'e',
    turn: 1,
    text: asks('When is it heavy?'),
    finishReason: 'stop',
    model: 'a',
    sampling: { temperature: 1, maxTokens: 500 },
    timing: { totalMs: 1, attempts: 1 },
  };
  return { task: await starterTask(), turns: [{ agent }], protocol: colBenchProtocol, seed: 1 };
}

describe('a simulated reply', () => {
  it.each([
    ['thoughts', '<think>The code says weight > 20.</think>\n\nOver 20 kg.'],
    ['thoughts whose opening tag the prompt has', 'The code says weight > 20.\n</think>\n\nOver 20 kg.'],
    ['a label', 'You: Over 20 kg.'],
    ['a label in bold', '**Reply:** Over 20 kg.'],
    ['both', '<think>Hm.</think>You: Over 20 kg.'],
  ])('goes to the agent without %s', async (_, text) => {
    says = [text];
    expect((await (await simulated()).reply(await asked())).text).toBe('Over 20 kg.');
  });

  it('streams without its thoughts', async () => {
    says = ['<think>The code says weight > 20.</think>\n\nOver 20 kg.'];
    let streamed = '';
    const onText = (piece: string): void => void (streamed += piece);
    await (await simulated()).reply(await asked(), { onText });
    expect(streamed).toBe('Over 20 kg.');
  });

  it('that goes on and on is stopped shortly after the reply limit, thoughts not counted', async () => {
    const thoughts = `<think>${'Weight, hm. '.repeat(100)}</think>`;
    const rambling = 'Over 20 kg. '.repeat(100);
    rambles = true;
    for (const text of [rambling, thoughts + rambling]) {
      says = [text];
      const reply = await (await simulated()).reply(await asked());
      expect(await server.requests.at(-1)!.ended).toBe('hung up');
      expect(rambling).toContain(reply.text);
      expect(reply.text.length).toBeGreaterThan(500);
      expect(reply.text.length).toBeLessThan(520);
    }
  });

  it.each(['  ', '<think>Only thoughts.</think>', '<think>Thoughts that never end', 'You:'])(
    'must say something: "%s" is refused with who, where and what to do',
    async (text) => {
      says = [text];
      await expect((await simulated()).reply(await asked())).rejects.toMatchObject({
        code: 'dialogue/empty-simulation',
        message: expect.stringMatching(
          /^The simulator openai:s@.* answered turn 1 of the task parcel-surcharge with nothing; .*choose another simulator, or reply yourself\.$/,
        ) as string,
      });
    },
  );
});
