import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { startChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';
import { configure, tandem, until } from './tandem';

async function offered(name: string): Promise<vscode.LanguageModelChat | undefined> {
  return (await vscode.lm.selectChatModels({ vendor: 'tandem' })).find((model) => model.name === name);
}

async function offeredOnce(name: string): Promise<vscode.LanguageModelChat> {
  await until(`${name} is offered`, async () => (await offered(name)) !== undefined);
  return (await offered(name))!;
}

async function ask(model: vscode.LanguageModelChat, message: string): Promise<string> {
  const response = await model.sendRequest([vscode.LanguageModelChatMessage.User(message)]);
  let said = '';
  for await (const piece of response.text) said += piece;
  return said;
}

describe('The models that Tandem offers the editor', () => {
  before(async () => {
    await tandem();
  });
  afterEach(() => configure('servers', undefined));

  it('include the starter model, which counts tokens and answers more than its context holds', async () => {
    const starter = await offeredOnce('starter');
    assert.ok(starter.maxInputTokens > 0);
    assert.ok((await starter.countTokens('one')) < (await starter.countTokens('one two three four')));
    assert.match(await ask(starter, 'word '.repeat(4000)), /only the starter model/);
  });

  it('come with servers that are connected, answer, and go when they fail', async () => {
    const server = await startChatServer({ reply: () => answer('It depends on the weight.') });
    await configure('servers', [{ name: 'Mine', baseUrl: server.url, model: 'tiny' }]);
    const mine = await offeredOnce('Mine');
    assert.equal(await ask(mine, 'What does a parcel cost?'), 'It depends on the weight.');
    await server.close();
    await assert.rejects(ask(mine, 'Hello?'), new RegExp(new URL(server.url).host));
    await until('the server is gone', async () => (await offered('Mine')) === undefined);
  });
});
