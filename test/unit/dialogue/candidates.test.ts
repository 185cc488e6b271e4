import { beforeEach, describe, expect, it } from 'vitest';
import type { SampledAgent } from '../../../src/core/dialogue/sample';
import type { Dialogue } from '../../../src/core/dialogue/dialogue';
import type { NewDialogue } from '../../../src/core/dialogue/dialogueParts';
import { OpenAiModel } from '../../../src/core/model/openai';
import type { Model } from '../../../src/core/model/model';
import { startChatServer } from '../../fixtures/chat-server';
import { answer, status } from '../../fixtures/chat-server-replies';
import { answers, asks, scripted } from '../../fixtures/dialogue';
import { hold } from '../../fixtures/held-model';
import { dialoguesOfEachTest } from '../../fixtures/dialogues';

const sampling = { temperature: 1, maxTokens: 500 };
const as = (writer: Model): SampledAgent => ({ agent: writer, sampling });
const ada = { by: 'ada', milliseconds: 900 };

const dialogues = dialoguesOfEachTest();
const { logged } = dialogues;
let agent: Model;
let rival: Model;

beforeEach(async () => {
  agent = await scripted(dialogues.folder, [asks('When is it heavy?'), asks('Which zones?')]);
  rival = await scripted(dialogues.folder, [asks('Which unit?'), answers('x = 1')]);
});

const start = (changes?: Partial<NewDialogue>): Promise<Dialogue> => dialogues.start(agent, changes);
const resume = (dialogue: Dialogue): Promise<Dialogue> => dialogues.resume(dialogue, agent);

const texts = (dialogue: Dialogue): string[] => dialogue.candidates!.candidates.map(({ text }) => text);

describe('two candidates', () => {
  it('are in the log before the choice, and no turn is; the chosen one becomes the turn', async () => {
    const dialogue = await start();
    await dialogue.drawCandidates({ rival: as(rival) });
    expect(dialogue.next).toBe('chooser');
    expect(texts(dialogue).sort()).toEqual([asks('When is it heavy?'), asks('Which unit?')]);
    const before = await logged(dialogue);
    expect(before).toMatchObject({ turns: [], pending: [{ shown: { turn: 1 } }] });
    const [, second] = dialogue.candidates!.candidates;
    await dialogue.choose(1, ada);
    expect(dialogue.next).toBe('collaborator');
    const { turns, pending } = await logged(dialogue);
    expect(pending).toBeUndefined();
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({
      agent: { text: second.text, model: second.agent },
      candidates: [{ choice: { picked: 1, by: 'ada', milliseconds: 900 } }],
    });
    expect(dialogue.turns).toEqual(turns);
  });

  it('stand in an order that the seed draws, and either agent is first about as often', async () => {
    const firsts: string[] = [];
    for (let seed = 0; seed < 40; seed += 1) {
      const dialogue = await start({ seed });
      await dialogue.drawCandidates({ rival: as(rival) });
      firsts.push(dialogue.candidates!.candidates[0].agent);
      if (seed === 5) {
        const again = await start({ seed });
        await again.drawCandidates({ rival: as(rival) });
        expect(texts(again)).toEqual(texts(dialogue));
      }
    }
    const own = firsts.filter((name) => name === agent.name).length;
    expect(own).toBeGreaterThan(8);
    expect(own).toBeLessThan(32);
  });

  it('come from one agent with two seeds, and with two others when neither would do', async () => {
    let count = 0;
    await using server = await startChatServer({ reply: () => answer(asks(`Question ${(count += 1)}?`)) });
    const dialogue = await start({ agent: new OpenAiModel({ model: 'm', baseUrl: server.url }) });
    await dialogue.drawCandidates();
    await dialogue.choose('neither', ada);
    expect(dialogue.next).toBe('agent');
    expect(await logged(dialogue)).toMatchObject({ turns: [], pending: [{ choice: { picked: 'neither' } }] });
    await dialogue.drawCandidates();
    await dialogue.choose('equal', ada);
    expect(new Set(server.requests.map(({ body }) => body.seed)).size).toBe(4);
    const [turn] = (await logged(dialogue)).turns;
    expect(turn!.candidates?.map(({ choice }) => choice.picked)).toEqual(['neither', 'equal']);
    // When neither is preferred, the candidate shown first becomes the turn.
    expect(turn!.agent.text).toBe(turn!.candidates![1]!.shown.candidates[0].text);
  });

  it('fail together: the other one is stopped, nothing is logged, and the sentence is that of the failure', async () => {
    await using server = await startChatServer({ reply: () => status(401) });
    const { model: slow } = hold(await scripted(dialogues.folder, [asks('When is it heavy?')]));
    const dialogue = await start({ agent: slow });
    const broken = new OpenAiModel({ model: 'm', baseUrl: server.url, retry: { attempts: 1 } });
    await expect(dialogue.drawCandidates({ rival: as(broken) })).rejects.toThrow(server.url);
    expect(dialogue.next).toBe('agent');
    expect((await logged(dialogue)).pending).toBeUndefined();
    const stop = new AbortController();
    const stopped = dialogue.drawCandidates({ signal: stop.signal });
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a dialogue that is left amid a choice', () => {
  it('shows the same two candidates when it is taken up again', async () => {
    const dialogue = await start();
    await dialogue.drawCandidates({ rival: as(rival) });
    const shown = texts(dialogue);
    const again = await resume(dialogue);
    expect(again.next).toBe('chooser');
    expect(texts(again)).toEqual(shown);
    await again.choose(0, ada);
    expect((await logged(dialogue)).turns[0]).toMatchObject({ agent: { text: shown[0] } });
  });

  it('goes on with what was chosen when the process died before the turn was logged', async () => {
    const dialogue = await start();
    await dialogue.drawCandidates({ rival: as(rival) });
    const shown = texts(dialogue);
    // After a kill at this point the log holds the choice, but no turn.
    await dialogues.log.append({ event: 'choice', episode: dialogue.id, turn: 1, picked: 1, by: 'ada' });
    const again = await resume(dialogue);
    expect(again.next).toBe('collaborator');
    const { turns, pending } = await logged(dialogue);
    expect(pending).toBeUndefined();
    expect(turns[0]).toMatchObject({ agent: { text: shown[1] }, candidates: [{ choice: { picked: 1 } }] });
  });
});
