import { describe, expect, it } from 'vitest';
import type { Dialogue } from '../../../src/core/dialogue/dialogue';
import { ModelSimulator, RulesSimulator } from '../../../src/core/dialogue/simulator';
import { OpenAiModel } from '../../../src/core/model/openai';
import type { Model } from '../../../src/core/model/model';
import { programOf } from '../../../src/core/task/task';
import { startChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { answers, asks, scripted, shippedPrompts } from '../../fixtures/dialogue';
import { dialoguesOfEachTest } from '../../fixtures/dialogues';

const developer = { kind: 'developer', name: 'ada' } as const;
const rules = { kind: 'rules', name: 'rules' } as const;
const byAda = { author: 'developer', by: 'ada' } as const;

const dialogues = dialoguesOfEachTest();
const { start, logged, resume } = dialogues;

const said = (text: string) => ({
  text: asks(text),
  finishReason: 'stop' as const,
  timing: { totalMs: 1, attempts: 1 },
});

describe('a dialogue', () => {
  it('takes the messages of an agent that samples elsewhere, and logs no sampling of them', async () => {
    const elsewhere: Model = {
      name: 'trained',
      generate: () => Promise.reject(new Error('Nobody asks it.')),
    };
    const dialogue = await start(elsewhere, { collaborator: rules, id: 'chosen' });
    await dialogue.agentSaid(asks('From which weight on does it cost more?'));
    await dialogue.simulatorReply();
    await dialogue.agentSaid(answers('def f(): return 1'));
    await expect(dialogue.agentSaid('One more.')).rejects.toMatchObject({ code: 'dialogue/not-your-turn' });

    const { id, turns, answer: final } = await logged(dialogue);
    expect(id).toBe('chosen');
    expect(turns.map(({ agent }) => [agent.model, agent.sampling])).toEqual([
      ['trained', undefined],
      ['trained', undefined],
    ]);
    expect(final?.answer).toContain('return 1');
  });

  it('goes from question to reply to answer, and each step is in the log before it is shown', async () => {
    const dialogue = await start(
      await scripted(dialogues.folder, [asks('When is it heavy?'), answers('x = 1')]),
    );
    expect(dialogue.next).toBe('agent');
    await dialogue.agentTurn();
    expect((await logged(dialogue)).turns).toHaveLength(1);
    expect(dialogue.next).toBe('collaborator');
    await dialogue.reply('Over 20 kg.', byAda);
    expect((await logged(dialogue)).turns[0]!.reply).toMatchObject({
      text: 'Over 20 kg.',
      author: 'developer',
    });
    await dialogue.agentTurn();
    expect(dialogue.next).toBe('nobody');
    expect(await logged(dialogue)).toMatchObject({
      state: 'answered',
      answer: { answer: '```python\nx = 1\n```', reason: 'answered', turn: 2 },
    });
  });

  it('shows the agent its own thoughts and the replies, and nothing hidden', async () => {
    await using server = await startChatServer({ reply: () => answer(asks('When is it heavy?')) });
    const dialogue = await start(new OpenAiModel({ model: 'm', baseUrl: server.url }));
    await dialogue.agentTurn();
    await dialogue.reply('Over 20 kg.', byAda);
    await dialogue.agentTurn();
    const sent = server.requests[1]!.body.messages;
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(sent[0]!.content).toContain(dialogue.task.description);
    expect(sent[1]!.content).toBe(asks('When is it heavy?'));
    expect(sent[2]!.content).toBe('Over 20 kg.');
    expect(JSON.stringify(sent)).not.toContain(dialogue.task.reference.split('\n')[1]!.trim());
  });

  it('shows an LLM simulator the hidden information and what was said aloud, but no thoughts', async () => {
    await using server = await startChatServer({ reply: () => answer('Over 20 kg.') });
    const prompts = await shippedPrompts();
    const simulator = new ModelSimulator(new OpenAiModel({ model: 's', baseUrl: server.url }), prompts);
    const dialogue = await start(await scripted(dialogues.folder, [asks('When is it heavy?')]), {
      simulator,
    });
    await dialogue.agentTurn();
    await dialogue.simulatorReply();
    const [request] = server.requests;
    expect(request!.body.messages[0]!.content).toContain(programOf(dialogue.task).hiddenInformation);
    expect(request!.body.messages[0]!.content).toContain('When is it heavy?');
    expect(request!.body.messages[0]!.content).not.toContain('I am not sure');
    expect(request!.body).toMatchObject({ temperature: 0 });
    expect((await logged(dialogue)).turns[0]!.reply).toMatchObject({
      text: 'Over 20 kg.',
      author: 'simulator',
      by: simulator.name,
    });
  });

  it('takes the last turn as the answer when the turns are used up', async () => {
    const agent = await scripted(dialogues.folder, [asks('Which unit?')]);
    const dialogue = await start(agent, { protocol: { maxTurns: 2, replyLimit: 400 } });
    await dialogue.agentTurn();
    await dialogue.reply('Kilograms.', byAda);
    await dialogue.agentTurn();
    expect((await logged(dialogue)).answer).toMatchObject({ reason: 'turn-limit', answer: 'Which unit?' });
  });

  it('marks a reply that gives the reference away', async () => {
    const dialogue = await start(await scripted(dialogues.folder, [asks('How?')]), {
      protocol: { maxTurns: 10, replyLimit: 2000 },
    });
    await dialogue.agentTurn();
    await dialogue.reply(dialogue.task.reference, byAda);
    expect((await logged(dialogue)).turns[0]!.leak).toMatchObject({ leaked: true, fraction: 1 });
  });

  it('hands the seat to the simulator and back', async () => {
    const dialogue = await start(
      await scripted(dialogues.folder, [asks('When is it heavy?'), asks('Which zones?')]),
    );
    await dialogue.agentTurn();
    await dialogue.handOver(rules);
    await dialogue.simulatorReply();
    await dialogue.agentTurn();
    await dialogue.handOver(developer);
    await dialogue.reply('Only 1 to 3.', byAda);
    const { turns, collaborator } = await logged(dialogue);
    expect(turns.map(({ reply }) => reply!.author)).toEqual(['simulator', 'developer']);
    expect(collaborator).toEqual(developer);
  });

  it('tags what a model with terms of its own wrote, also when a developer edited it', async () => {
    const agent: Model = {
      name: 'vscode:some',
      terms: 'editor',
      generate: () => Promise.resolve({ ...said('How heavy?'), servedModel: 'some-2026' }),
    };
    const drafts: Model = { ...agent, generate: () => Promise.resolve(said('Above 20.')) };
    const simulator = new ModelSimulator(drafts, await shippedPrompts());
    const dialogue = await start(agent, { simulator });
    const edited = { ...byAda, author: 'developer-edited-suggestion', suggestedBy: simulator.name } as const;
    await dialogue.agentTurn();
    await dialogue.simulatorReply();
    await dialogue.agentTurn();
    await dialogue.reply('Above 20 kg.', edited);
    await dialogue.agentTurn();
    await dialogue.reply('My own words.', byAda);
    await dialogue.agentTurn();
    await dialogue.handOver(developer, new RulesSimulator());
    await dialogue.reply('Above 20 kg, drafted before the rules came.', edited);
    await dialogue.agentTurn();
    await dialogue.reply('By the rules.', { ...edited, suggestedBy: 'rules' });
    const { turns } = await logged(dialogue);
    expect(turns.map((turn) => turn.agent.terms)).toEqual(Array<string>(5).fill('editor'));
    expect(turns.map((turn) => turn.reply?.terms)).toEqual([
      ...['editor', 'editor', undefined],
      ...['editor', undefined],
    ]);
    expect(turns[0]!.agent).toMatchObject({ model: 'some-2026', agent: 'vscode:some' });
  });

  it('stops a message that does not end, says so in the log, and keeps what was said before', async () => {
    const endless = asks('again and again '.repeat(70_000));
    const replies = [answer(asks('Which unit?')), answer(endless), answer(asks('And when?'))];
    await using server = await startChatServer({ reply: ({ index }) => replies[index]! });
    const agent = new OpenAiModel({ model: 'm', baseUrl: server.url });
    const dialogue = await start(agent, { collaborator: rules });
    await expect(dialogue.play()).rejects.toThrow('has written 1,000,000 characters of one message');
    const stopped = await logged(dialogue);
    expect(stopped.turns.map((turn) => turn.agent.text)).toEqual([asks('Which unit?')]);
    expect(stopped.turns[0]!.reply).toBeDefined();
    expect(stopped.abandoned).toMatchObject({
      reason: 'failed',
      message: expect.stringContaining('was stopped. Try again, let a turn have fewer tokens') as string,
    });
    const resumed = await resume(dialogue, agent);
    expect((await resumed.agentTurn()).agent.text).toBe(asks('And when?'));
  });

  it('samples the last message anew under another seed, and keeps both in the log', async () => {
    let asked = 0;
    await using server = await startChatServer({ reply: () => answer(asks(`Question ${(asked += 1)}?`)) });
    const dialogue = await start(new OpenAiModel({ model: 'm', baseUrl: server.url }));
    await dialogue.agentTurn();
    await dialogue.anotherSample();
    await dialogue.anotherSample();
    await dialogue.reply('Yes.', byAda);
    expect(dialogue.turns).toHaveLength(1);
    const { turns } = await logged(dialogue);
    expect(turns).toEqual(dialogue.turns);
    expect(turns[0]).toMatchObject({
      agent: { text: asks('Question 3?') },
      superseded: [{ text: asks('Question 1?') }, { text: asks('Question 2?') }],
      reply: { text: 'Yes.' },
    });
    expect(new Set(server.requests.map(({ body }) => body.seed)).size).toBe(3);
    const prompts = server.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(new Set(prompts).size).toBe(1);
    await expect(dialogue.anotherSample()).rejects.toThrow('not the collaborator');
  });

  it('ends so while the agent is asked, with the message before', async () => {
    const dialogue = await start(
      await scripted(dialogues.folder, [asks('def f(): return 1'), asks('Else?')]),
    );
    await expect(dialogue.endNow()).rejects.toThrow("It is not the collaborator's move");
    await dialogue.agentTurn();
    await dialogue.reply('Yes.', byAda);
    await dialogue.endNow();
    expect(dialogue.next).toBe('nobody');
    const { answer, turns } = await logged(dialogue);
    expect(answer).toMatchObject({ turn: 1, answer: 'def f(): return 1' });
    expect(turns).toHaveLength(1);
  });

  it('refuses a move out of turn and an empty reply, each with one sentence', async () => {
    const dialogue = await start(await scripted(dialogues.folder, [asks('Which unit?')]));
    await expect(dialogue.reply('hello', byAda)).rejects.toThrow("It is not the collaborator's move");
    await dialogue.agentTurn();
    await expect(dialogue.agentTurn()).rejects.toThrow("It is not the agent's move after turn 1");
    await expect(dialogue.reply('  \n', byAda)).rejects.toThrow('The reply to turn 1 is empty');
    const pasted = 'x'.repeat(1_000_001);
    await expect(dialogue.reply(pasted, byAda)).rejects.toThrow(
      'The reply to turn 1 has 1,000,001 characters, and 1,000,000 are the most; shorten it.',
    );
  });

  it('samples each turn with a seed of its own that depends only on the dialogue', async () => {
    const seeds = async (): Promise<unknown[]> => {
      await using server = await startChatServer({ reply: () => answer(asks('Which unit?')) });
      const dialogue = await start(new OpenAiModel({ model: 'm', baseUrl: server.url }), {
        collaborator: rules,
        protocol: { maxTurns: 3, replyLimit: 400 },
      });
      await dialogue.play();
      return server.requests.map(({ body }) => body.seed);
    };
    const first = await seeds();
    expect(new Set(first).size).toBe(3);
    expect(await seeds()).toEqual(first);
  });
});

describe('a dialogue that is resumed with another agent', () => {
  const named = (name: string, text: string): Model => ({
    name,
    generate: () => Promise.resolve(said(text)),
  });
  const first = named('first', 'Which unit?');
  const second = named('second', 'Which zone?');

  it('stays that of the first one, which wrote its answer, when it is ended', async () => {
    const dialogue = await start(first);
    await dialogue.agentTurn();
    const again = await resume(dialogue, second);
    await again.endNow();
    expect(again.agent).toBe('first');
    expect(await logged(dialogue)).toMatchObject({ agent: 'first', answer: { answer: 'Which unit?' } });
  });

  it('is that of the other one from its first message on, whichever way that comes', async () => {
    const ways: ((dialogue: Dialogue) => Promise<unknown>)[] = [
      (dialogue) => dialogue.agentTurn(),
      (dialogue) => dialogue.agentSaid(asks('Which zone?')),
      (dialogue) => dialogue.drawCandidates(),
      (dialogue) =>
        dialogue.drawCandidates({ rival: { agent: first, sampling: { temperature: 1, maxTokens: 9 } } }),
    ];
    for (const way of ways) {
      const dialogue = await start(first);
      await dialogue.agentTurn();
      await dialogue.reply('Kilograms.', byAda);
      const again = await resume(dialogue, second);
      await way(again);
      expect(again.agent).toBe('second');
      const whole = await logged(dialogue);
      expect(whole).toMatchObject({ agent: 'second', started: { agent: 'first' } });
      expect(whole.damaged).toBeUndefined();
      expect(whole.turns).toEqual(again.turns);
    }
  });
});
