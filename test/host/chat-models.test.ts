import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { startChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { configure, tandem, until } from './tandem';

async function offered(): Promise<vscode.LanguageModelChat[]> {
  return vscode.lm.selectChatModels({ vendor: 'tandem' });
}

async function asked(model: vscode.LanguageModelChat, ...messages: string[]): Promise<string> {
  const response = await model.sendRequest(
    messages.map((text) => vscode.LanguageModelChatMessage.User(text)),
  );
  let said = '';
  for await (const piece of response.text) said += piece;
  return said;
}

describe('The models that Tandem offers the editor', () => {
  before(async () => {
    await tandem();
  });
  afterEach(() => configure('servers', undefined));

  it('include the starter model, which says what it knows when it is asked for anything else', async () => {
    await until('the starter model is offered', async () =>
      (await offered()).some(({ id }) => id === 'starter'),
    );
    const starter = (await offered()).find(({ id }) => id === 'starter')!;
    assert.equal(starter.name, 'starter');
    assert.ok(starter.maxInputTokens > 0);
    const short = await starter.countTokens('one');
    const long = await starter.countTokens('one two three four five six');
    assert.ok(short > 0 && long > short, `${short} and ${long} tokens`);
    assert.match(await asked(starter, 'word '.repeat(4000)), /only the starter model/);
  });

  it('come and go with the servers that are connected, and answer what they are asked', async () => {
    await using server = await startChatServer({ reply: () => answer('It depends on the weight.') });
    await configure('servers', [{ name: 'Mine', baseUrl: server.url, model: 'tiny' }]);
    const mine = async (): Promise<vscode.LanguageModelChat | undefined> =>
      (await offered()).find(({ name }) => name === 'Mine');
    await until('the server is offered', async () => (await mine()) !== undefined);
    const model = (await mine())!;
    assert.equal(await asked(model, 'What does a parcel cost?', 'In euros.'), 'It depends on the weight.');
    // Consecutive messages of one side are merged for the chat template.
    assert.deepEqual(server.requests[0]?.body.messages, [
      { role: 'user', content: 'What does a parcel cost?\n\nIn euros.' },
    ]);
    await configure('servers', undefined);
    await until('the server is gone', async () => (await mine()) === undefined);
  });

  it('say in one sentence why they cannot answer', async () => {
    await configure('servers', [{ name: 'Gone', baseUrl: 'http://127.0.0.1:1/v1', model: 'tiny' }]);
    await until('the server is offered', async () => (await offered()).some(({ name }) => name === 'Gone'));
    const gone = (await offered()).find(({ name }) => name === 'Gone')!;
    await assert.rejects(asked(gone, 'Hello?'), /127\.0\.0\.1:1/);
    // A model that failed is no longer offered.
    await until('the server is gone', async () => !(await offered()).some(({ name }) => name === 'Gone'));
  });
});
