import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { draftSpecification } from '../../../../src/core/dialogue/specification/draftSpecification';
import type { Grade } from '../../../../src/core/grading/grade';
import { OpenAiModel } from '../../../../src/core/model/openai';
import type { ProgramTask, Specification } from '../../../../src/core/task/task';
import { startChatServer, type ChatServer } from '../../../fixtures/chat-server';
import { answer, status, type Reply } from '../../../fixtures/chat-server-replies';
import { starterTask } from '../../../fixtures/dialogue';

const WORDS = '- Heavy means more than 20 kilograms.\n- It costs 4.50 euros more.';
const OTHER_WORDS = '1. Heavy means more than 20 kilograms, and not 20 itself.\n2. It costs 4.50 euros more.';
const CODE = '- return base + 4.5 if weight_kg > 20 else base\n- base = {1: 5, 2: 8, 3: 12}.get(zone)';

let server: ChatServer;
/** What the drafter writes, one after the other; the last one again and again. */
let drafts: (string | Reply)[];

beforeEach(async () => {
  let written = 0;
  server = await startChatServer({
    reply: ({ body }) => {
      if (body.model === 'checker') return answer('```python\nx = 1\n```');
      const draft = drafts[Math.min(written++, drafts.length - 1)]!;
      return typeof draft === 'string' ? answer(draft) : draft;
    },
  });
});
afterEach(() => server.close());

const sentTo = (model: string) => server.requests.filter(({ body }) => body.model === model);

/** @param passed numbers of tests of ten that each function passes; undefined where they cannot run */
async function drafted(task: ProgramTask, ...passed: (number | undefined)[]): Promise<Specification> {
  const model = (name: string) => new OpenAiModel({ model: name, baseUrl: server.url });
  const grade = (): Promise<Grade> => {
    const count = passed.shift();
    if (count === undefined)
      return Promise.resolve({ mode: 'fixed', reward: null, success: null, tests: [], notGradable: 'numpy' });
    const tests = Array.from({ length: 10 }, (_, at) =>
      at < count
        ? ({ status: 'passed', milliseconds: 1 } as const)
        : ({ status: 'timed-out', limitMilliseconds: 1 } as const),
    );
    return Promise.resolve({ mode: 'fixed', reward: count / 10, success: count === 10, tests });
  };
  return draftSpecification(task, {
    ...{ drafter: model('drafter'), checker: model('checker') },
    grader: { grade },
  });
}

describe('a specification', () => {
  it('is drafted from the reference, and checked by a function that is written without it', async () => {
    drafts = [`<think>The code says weight_kg > 20.</think>\nHere it is:\n${WORDS}`];
    const task = await starterTask();
    expect(await drafted(task, 10)).toEqual({
      requirements: ['Heavy means more than 20 kilograms.', 'It costs 4.50 euros more.'],
      by: `openai:drafter@${server.url}`,
      check: { by: `openai:checker@${server.url}`, passed: 10, tests: 10 },
    });
    expect(sentTo('drafter')[0]!.body.messages[0]!.content).toContain(task.reference);
    const { content } = sentTo('checker')[0]!.body.messages[0]!;
    expect(content).toContain(task.description);
    expect(content).toContain('- It costs 4.50 euros more.');
    for (const line of task.reference.split('\n').slice(1)) expect(content).not.toContain(line.trim());
  });

  it('is written again when it gives code away, which no checker reads', async () => {
    drafts = [CODE, WORDS];
    const { requirements } = await drafted(await starterTask(), 10);
    expect(requirements[0]).toBe('Heavy means more than 20 kilograms.');
    expect(sentTo('drafter')[1]!.body.messages.at(-1)!.content).toContain('gives code away');
    expect(sentTo('checker')).toHaveLength(1);
  });

  it('is written again when it fails its check, until it passes', async () => {
    drafts = [WORDS, OTHER_WORDS];
    const { requirements, check } = await drafted(await starterTask(), 8, 10);
    expect(requirements[0]).toContain('and not 20 itself');
    expect(check).toMatchObject({ passed: 10, tests: 10 });
    expect(sentTo('drafter')[1]!.body.messages.at(-1)!.content).toContain('passes 8 of 10 tests');
  });

  it('that never passes is kept as failed: the draft that passed the most', async () => {
    drafts = [WORDS, OTHER_WORDS, WORDS];
    const { requirements, check } = await drafted(await starterTask(), 3, 9, 9);
    expect(requirements[0]).toContain('and not 20 itself');
    expect(check).toMatchObject({ passed: 9, tests: 10 });
    expect(sentTo('drafter')).toHaveLength(3);
  });

  it('stays unchecked where the tests cannot run', async () => {
    drafts = [WORDS];
    expect(await drafted(await starterTask(), undefined)).not.toHaveProperty('check');
  });

  it.each([
    ['code', CODE],
    ['no list', 'It is heavy from 20 kilograms on.'],
  ])('that is %s every time is refused', async (_, text) => {
    drafts = [text];
    await expect(drafted(await starterTask())).rejects.toMatchObject({ code: 'dialogue/no-draft' });
    expect(sentTo('checker')).toEqual([]);
  });

  it('is asked for again when a model repeated itself to its limit, without all that it wrote', async () => {
    const endless = 'It is a list. '.repeat(2000);
    drafts = [answer(endless, { finishReason: 'length' }), WORDS];
    expect((await drafted(await starterTask(), 10)).requirements).toHaveLength(2);
    const [, said, complaint] = sentTo('drafter')[1]!.body.messages;
    expect(said!.content.length).toBeLessThan(endless.length / 4);
    expect(complaint!.content).toContain('did not end');
  });

  it('leaves aside a last requirement that was cut off', async () => {
    drafts = [answer(WORDS.slice(0, -10), { finishReason: 'length' })];
    const { requirements } = await drafted(await starterTask(), 10);
    expect(requirements).toEqual(['Heavy means more than 20 kilograms.']);
  });

  it('sends no empty message after an empty reply', async () => {
    drafts = ['<think>Heavy?</think>', WORDS];
    await drafted(await starterTask(), 10);
    const [only, ...others] = sentTo('drafter')[1]!.body.messages;
    expect(only!.content).toContain('This is no list.');
    expect(others).toEqual([]);
  });

  it('that leaves the model no room for another draft is the best so far, or none of this task alone', async () => {
    const full = status(400, { code: 'context_length_exceeded', message: 'maximum context length' });
    drafts = [WORDS, full];
    expect((await drafted(await starterTask(), 3)).check).toMatchObject({ passed: 3 });
    drafts = [full];
    await expect(drafted(await starterTask())).rejects.toMatchObject({
      code: 'dialogue/no-draft',
      message: expect.stringMatching(/^There is no specification of the task .*: /) as string,
    });
  });
});
