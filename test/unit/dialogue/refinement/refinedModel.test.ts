import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RefinedModel } from '../../../../src/core/dialogue/refinement/refinedModel';
import type { AnswerRunner } from '../../../../src/core/grading/grader';
import type {
  ChatMessage,
  GenerateOptions,
  Generation,
  Model,
  SamplingSettings,
} from '../../../../src/core/model/model';
import { asks, answers } from '../../../fixtures/dialogue';
import { dialoguesOfEachTest } from '../../../fixtures/dialogues';
import { buildSandbox, type Sandbox } from '../../../fixtures/sandbox';

let sandbox: Sandbox;
let runner: AnswerRunner;

beforeAll(async () => {
  sandbox = await buildSandbox();
  runner = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

const dialogues = dialoguesOfEachTest();

const above = answers('def parcel_price(weight_kg, zone):\n    return 9 if weight_kg > 20 else 4');
const from = answers('def parcel_price(weight_kg, zone):\n    return 9 if weight_kg >= 20 else 4');
const QUESTION = 'For parcel_price(weight_kg=20, zone=3), should the result be 4 or 9?';

interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly sampling: SamplingSettings;
  readonly options: GenerateOptions;
}

/** Says these texts one after the other, and remembers what it was asked. */
class Speaker implements Model {
  readonly asked: Asked[] = [];

  constructor(
    readonly name: string,
    private readonly texts: readonly string[],
  ) {}

  generate(messages: readonly ChatMessage[], sampling: SamplingSettings, options: GenerateOptions = {}) {
    this.asked.push({ messages, sampling, options });
    const text = this.texts[this.asked.length - 1]!;
    options.onText?.(text);
    const generation: Generation = {
      text,
      finishReason: 'stop',
      tokens: { ids: [this.asked.length], logprobs: [-0.5] },
      usage: { promptTokens: 10, completionTokens: 1 },
      timing: { totalMs: 1, attempts: 1 },
    };
    return Promise.resolve(generation);
  }
}

const refined = (model: Model, drafts = 2, verifier?: Model, refiner?: Model): RefinedModel =>
  new RefinedModel('refine:m', { generator: model, verifier, refiner }, drafts, () =>
    Promise.resolve(runner),
  );

describe('an agent with drafts', () => {
  it('asks where its drafts differ, and logs them; the question has no tokens of the model', async () => {
    const model = new Speaker('m', [above, from]);
    const dialogue = await dialogues.start(refined(model));
    const { agent } = await dialogue.agentTurn();
    expect(dialogue.next).toBe('collaborator');
    expect(agent).toMatchObject({
      ...{ text: `OUTPUT:\n${QUESTION}`, model: 'refine:m' },
      usage: { promptTokens: 20, completionTokens: 2 },
      selection: { candidates: [{ model: 'm', text: above }, { text: from }] },
    });
    expect(agent.tokens).toBeUndefined();
    expect(agent.selection?.place).toBeUndefined();
    expect((await dialogues.logged(dialogue)).turns).toEqual(dialogue.turns);
    const [first, second] = model.asked.map(({ sampling }) => sampling.seed);
    expect(second).not.toBe(first);
  });

  it('answers with its own first draft where the drafts agree', async () => {
    const dialogue = await dialogues.start(refined(new Speaker('m', [above, above])));
    const { agent } = await dialogue.agentTurn();
    expect(dialogue.next).toBe('nobody');
    expect(agent).toMatchObject({ text: above, model: 'm', agent: 'refine:m', tokens: { ids: [1] } });
    expect(agent.selection?.place).toBe(0);
  });

  it('answers with the draft of most in the last turn', async () => {
    const drafts = [above, from, from];
    const protocol = { maxTurns: 1, replyLimit: 400 };
    const dialogue = await dialogues.start(refined(new Speaker('m', drafts), 3), { protocol });
    const { agent } = await dialogue.agentTurn();
    expect(agent).toMatchObject({ text: from, tokens: { ids: [2] }, selection: { place: 1 } });
  });

  it.each([
    ['the same choice once', [above, from], 1],
    ['two choices at most', [above, answers('def parcel_price(weight_kg, zone):\n    return zone')], 2],
  ])('asks about %s', async (_, drafts, questions) => {
    const dialogue = await dialogues.start(refined(new Speaker('m', [drafts, drafts, drafts].flat())));
    for (let turn = 0; turn < questions; turn++) {
      expect((await dialogue.agentTurn()).agent.text).toMatch(/^OUTPUT:\nFor parcel_price/);
      await dialogue.reply('I do not know.', { author: 'developer', by: 'ada' });
    }
    expect((await dialogue.agentTurn()).agent.text).toBe(above);
  });

  it('says its own questions as they are', async () => {
    const model = new Speaker('m', [asks('Which zones?')]);
    const dialogue = await dialogues.start(refined(model));
    const { agent } = await dialogue.agentTurn();
    expect(agent).toMatchObject({ text: asks('Which zones?'), model: 'm', tokens: { ids: [1] } });
    expect(agent.selection).toBeUndefined();
    expect(model.asked).toHaveLength(1);
  });

  it('samples further drafts at temperature 1 where messages are greedy', async () => {
    const model = new Speaker('m', [above, above]);
    await refined(model).generate([], { temperature: 0, maxTokens: 9 }, { position: position(3) });
    expect(model.asked.map(({ sampling }) => sampling.temperature)).toEqual([0, 1]);
  });

  it('with one draft, says token for token what its model says', async () => {
    const sampling = { temperature: 1, maxTokens: 500, seed: 7 };
    const alone = new Speaker('m', [above]);
    const wrapped = new Speaker('m', [above]);
    const pieces: string[] = [];
    const options = { position: position(3), onText: (piece: string) => pieces.push(piece) };
    const said = await refined(wrapped, 1).generate([], sampling, options);
    expect(said).toEqual({ ...(await alone.generate([], sampling, options)), servedModel: 'm' });
    expect(wrapped.asked[0]).toEqual(alone.asked[0]);
    expect(pieces).toEqual([above, above]);
  });
});

describe('a verifier', () => {
  it('words the question, in which the call is named', async () => {
    const verifier = new Speaker('v', ['Is exactly 20 kg heavy?']);
    const said = await refined(new Speaker('m', [above, from]), 2, verifier).generate([], sampling, {
      position: position(3),
    });
    expect(said).toMatchObject({
      text: 'OUTPUT:\nAbout parcel_price(weight_kg=20, zone=3): Is exactly 20 kg heavy?',
      servedModel: 'v',
      selection: { verifier: { model: 'v', asked: QUESTION, text: 'Is exactly 20 kg heavy?' } },
    });
    expect(verifier.asked[0]!.messages[0]!.content).toContain(QUESTION);
    expect(verifier.asked[0]!.sampling.temperature).toBe(0);
  });

  it('leaves what follows its question to the refiner', async () => {
    const [model, refiner] = [new Speaker('m', [above, from]), new Speaker('r', [from])];
    const dialogue = await dialogues.start(refined(model, 2, new Speaker('v', ['Heavy?']), refiner));
    await dialogue.agentTurn();
    await dialogue.reply('Yes.', { author: 'developer', by: 'ada' });
    expect((await dialogue.agentTurn()).agent).toMatchObject({
      text: from,
      model: 'r',
      tokens: { ids: [1] },
    });
    expect(model.asked).toHaveLength(2);
    expect(refiner.asked[0]!.messages.at(-1)).toEqual({ role: 'user', content: 'Yes.' });
  });

  it.each([
    ['2', from],
    ['None of them.', above],
  ])('that says "%s" chooses when nothing more can be asked', async (choice, text) => {
    const verifier = new Speaker('v', [choice]);
    const agent = refined(new Speaker('m', [above, from]), 2, verifier);
    const messages: ChatMessage[] = [{ role: 'user', content: 'Go on.' }];
    expect(await agent.generate(messages, sampling, { position: position(0) })).toMatchObject({ text });
    expect(verifier.asked[0]!.messages).toHaveLength(1);
    expect(agent.notes.some((note) => note.includes('named no draft'))).toBe(text === above);
  });
});

const sampling = { temperature: 1, maxTokens: 500, seed: 7 };

const position = (turnsLeft: number) => ({
  ...{ turn: 1, turnsLeft },
  description: 'The signature of the function is: def parcel_price(weight_kg, zone)',
});
