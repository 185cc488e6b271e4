import { beforeEach, describe, expect, it, vi } from 'vitest';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import { OpenAiModel } from '../../../../src/core/model/openai';
import { startChatServer, type ChatServer } from '../../../fixtures/chat-server';
import { answer } from '../../../fixtures/chat-server-replies';
import { shippedPrompts } from '../../../fixtures/dialogue';
import { english } from '../translate';

type Respond = (request: object, context: object, stream: object, token: object) => Promise<object>;

/** The part of the editor's API that `@tandem` needs. */
const editor = vi.hoisted(() => ({
  respond: undefined as Respond | undefined,
  workspace: { isTrusted: false },
  window: { activeTextEditor: undefined },
  chat: {
    createChatParticipant: (_: string, respond: Respond) => ((editor.respond = respond), {}),
  },
  l10n: { t: (message: string, ...values: string[]) => editor.translate(message, ...values) },
  translate: String as (message: string, ...values: string[]) => string,
}));
vi.mock('vscode', () => editor);
editor.translate = english;

const { Participant } = await import('../../../../src/editor/chat/participant');

const reported: unknown[] = [];
const said: string[] = [];
const offered: object[] = [];

beforeEach(() => {
  reported.length = 0;
  offered.length = 0;
  said.length = 0;
});

/** Asks `@tandem` with the server's model as agent, which itself refuses nothing. */
async function asked(server: ChatServer, protocol = colBenchProtocol, command?: string): Promise<object> {
  const agent = new OpenAiModel({ model: 'tiny', baseUrl: server.url });
  const engine = {
    ...{ agentName: 'mine', calledBy: String, protocol, prompts: () => shippedPrompts() },
    ...{ openAgent: () => Promise.resolve(agent), samplingOf: () => ({ temperature: 0, maxTokens: 50 }) },
    report: (error: unknown) => reported.push(error),
  };
  new Participant({ first: engine, of: () => engine } as never, undefined as never);
  const stream = {
    markdown: (text: string) => said.push(text),
    progress: (text: string) => said.push(text),
    button: (button: object) => offered.push(button),
  };
  const token = { onCancellationRequested: () => ({ dispose: () => undefined }) };
  const request = { prompt: 'What is a parcel?', references: [], model: { vendor: 'copilot' }, command };
  return editor.respond!(request, { history: [] }, stream, token);
}

it('says why it does not answer in a workspace that is not trusted, and asks no model', async () => {
  await using server = await startChatServer({ reply: () => answer('OUTPUT:\nHow heavy?') });
  editor.workspace.isTrusted = false;
  expect(await asked(server)).toEqual({
    errorDetails: { message: expect.stringContaining('not trusted') as string },
  });
  expect(server.requests).toEqual([]);
  expect(said).toEqual([]);
  expect(reported).toMatchObject([{ code: 'editor/restricted' }]);

  editor.workspace.isTrusted = true;
  expect(await asked(server)).toMatchObject({ metadata: { isAnswer: false } });
  expect(server.requests).toHaveLength(1);
  expect(said.join('')).toContain('How heavy?');
});

describe('the last message', () => {
  const draft = '```python\ndef wrong():\n    pass\n```';
  const asks = `I do not know the limit.\n${draft}\nOUTPUT:\nHow heavy is it?\n`;

  it.each([
    ['that the protocol allows', { ...colBenchProtocol, maxTurns: 1 }, undefined],
    ['after Answer now', colBenchProtocol, 'answer'],
  ])('%s is shown without its thoughts when it asks, and is no answer', async (_, protocol, command) => {
    await using server = await startChatServer({ reply: () => answer(asks) });
    editor.workspace.isTrusted = true;
    expect(await asked(server, protocol, command)).toMatchObject({ metadata: { isAnswer: false } });
    expect(said.slice(1).join('')).toBe(
      'How heavy is it?\n\n\nThe agent did not answer: it wrote no function. Reply to it, or choose another agent.',
    );
    expect(offered).toMatchObject([{ command: 'tandem.chooseAgent' }]);
  });

  it('after Answer now is the answer when it holds a function, also an unannounced one', async () => {
    await using server = await startChatServer({ reply: () => answer(`OUTPUT:\n${draft}`) });
    editor.workspace.isTrusted = true;
    expect(await asked(server, colBenchProtocol, 'answer')).toMatchObject({ metadata: { isAnswer: true } });
    expect(offered).toMatchObject([{ command: 'tandem.testAnswer' }]);
    expect(server.requests[0]!.body.messages.at(-1)!.content).toContain('Please answer now');
  });
});
