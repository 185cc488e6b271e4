import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { draftSpecification } from '../../../../src/core/dialogue/specification/draftSpecification';
import type { Grade } from '../../../../src/core/grading/grade';
import { OpenAiModel } from '../../../../src/core/model/openai';
import type { ProgramTask, Specification } from '../../../../src/core/task/task';
import { startChatServer, type ChatServer } from '../../../fixtures/chat-server';
import { answer } from '../../../fixtures/chat-server-replies';
import { starterTask } from '../../../fixtures/dialogue';

const WORDS = '- Heavy means more than 20 kilograms.\n- It costs 4.50 euros more.';
const OTHER_WORDS = '1. Heavy means more than 20 kilograms, and not 20 itself.\n2. It costs 4.50 euros more.';
const CODE = '- return base + 4.5 if weight_kg > 20 else base\n- base = {1: 5, 2: 8, 3: 12}.get(zone)';

let server: ChatServer;
/** What the drafter writes, one after the other; the last one again and again. */
let drafts: string[];

beforeEach(async () => {
  server = await startChatServer({
    reply: ({ body }) => {
      const written = body.messages.filter(({ role }) => role === 'assistant').length;
      const isDrafter = body.model === 'drafter';
      return answer(isDrafter ? drafts[Math.min(written, drafts.length - 1)]! : '```python\nx = 1\n```');
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
});
