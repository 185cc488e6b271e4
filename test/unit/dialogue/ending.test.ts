import { describe, expect, it } from 'vitest';
import { ModelSimulator } from '../../../src/core/dialogue/simulator';
import { OpenAiModel } from '../../../src/core/model/openai';
import type { Model } from '../../../src/core/model/model';
import { startChatServer } from '../../fixtures/chat-server';
import { answer, reset, status } from '../../fixtures/chat-server-replies';
import { answers, asks, scripted, shippedPrompts } from '../../fixtures/dialogue';
import { dialoguesOfEachTest } from '../../fixtures/dialogues';

const rules = { kind: 'rules', name: 'rules' } as const;

const dialogues = dialoguesOfEachTest();
const { start, logged, resume } = dialogues;

describe('a dialogue that does not end well', () => {
  it('stays in the log as cancelled, without the half-said turn, and can be resumed', async () => {
    const agent = await scripted(dialogues.folder, [asks('When is it heavy?'), answers('x = 1')]);
    const dialogue = await start(agent, { collaborator: rules });
    const cancel = new AbortController();
    const played = dialogue.play({ signal: cancel.signal, onText: () => cancel.abort() });
    await expect(played).rejects.toThrow();
    expect(await logged(dialogue)).toMatchObject({
      state: 'abandoned',
      turns: [],
      abandoned: { reason: 'cancelled' },
    });
    const again = await resume(dialogue, agent);
    await again.play();
    expect(await logged(dialogue)).toMatchObject({ state: 'answered', answer: { turn: 2 } });
  });

  it('stays in the log as failed with the sentence that says why, and can be resumed', async () => {
    let broken = false;
    await using server = await startChatServer({
      reply: ({ body }) =>
        broken ? reset : answer(body.messages.length > 1 ? answers('x = 1') : asks('Which unit?')),
    });
    const agent = new OpenAiModel({ model: 'm', baseUrl: server.url, retry: { attempts: 1 } });
    const dialogue = await start(agent, { collaborator: rules });
    broken = true;
    await expect(dialogue.play()).rejects.toThrow(server.url);
    const failed = await logged(dialogue);
    expect(failed).toMatchObject({ state: 'abandoned', abandoned: { reason: 'failed' } });
    expect(failed.abandoned!.message).toContain(server.url);
    broken = false;
    const again = await resume(dialogue, agent);
    await again.play();
    expect((await logged(dialogue)).state).toBe('answered');
  });

  it('ends with the last message as its answer when it outgrows the agent’s context, also where it had failed', async () => {
    const full = { message: "This model's maximum context length is 2048 tokens." };
    await using server = await startChatServer({
      reply: ({ body }) => (body.messages.length > 2 ? status(400, full) : answer(asks('Which unit?'))),
    });
    const agent = new OpenAiModel({ model: 'm', baseUrl: server.url });
    const dialogue = await start(agent, { collaborator: rules });
    await dialogue.play();
    const ended = { state: 'answered', answer: { turn: 1, answer: 'Which unit?', reason: 'context-limit' } };
    expect(await logged(dialogue)).toMatchObject(ended);
    const broken: Model = { name: 'm', generate: () => Promise.reject(new Error('It is gone.')) };
    const other = await start(agent, { collaborator: rules });
    await other.agentTurn();
    await other.simulatorReply();
    await expect((await resume(other, broken)).play()).rejects.toThrow('It is gone.');
    await (await resume(other, agent)).play();
    expect(await logged(other)).toMatchObject(ended);
  });

  it('fails when the agent’s context takes not even the first prompt, or the collaborator’s is full', async () => {
    const full = status(400, { message: 'the request exceeds the available context size' });
    await using server = await startChatServer({ reply: () => full });
    const model = new OpenAiModel({ model: 'm', baseUrl: server.url });
    const alone = await start(model, { collaborator: rules });
    await expect(alone.play()).rejects.toMatchObject({ code: 'model/too-long' });
    const simulator = new ModelSimulator(model, await shippedPrompts());
    const agent = await scripted(dialogues.folder, [asks('Which unit?'), answers('x = 1')]);
    const together = await start(agent, { collaborator: { kind: 'simulator', name: 'm' }, simulator });
    await expect(together.play()).rejects.toMatchObject({ code: 'model/too-long' });
    for (const each of [alone, together])
      expect(await logged(each)).toMatchObject({ state: 'abandoned', abandoned: { reason: 'failed' } });
  });

  it('is closed on resuming when the process died between the last turn and its end', async () => {
    const agent = await scripted(dialogues.folder, [answers('x = 1')]);
    const dialogue = await start(agent, { collaborator: rules });
    // After a kill at this point the log holds the turn, but no event that ends the dialogue.
    await dialogues.log.append({
      event: 'agent-turn',
      episode: dialogue.id,
      turn: 1,
      text: answers('x = 1'),
      finishReason: 'stop',
      model: agent.name,
      sampling: { temperature: 1, maxTokens: 500 },
    });
    const again = await resume(dialogue, agent);
    expect(again.next).toBe('nobody');
    expect(await logged(dialogue)).toMatchObject({ state: 'answered', answer: { reason: 'answered' } });
  });
});
