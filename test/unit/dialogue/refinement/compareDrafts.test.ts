import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clarifyingQuestion } from '../../../../src/core/dialogue/refinement/clarification';
import { compareDrafts } from '../../../../src/core/dialogue/refinement/compareDrafts';
import type { AnswerRunner } from '../../../../src/core/grading/grader';
import { buildSandbox, type Sandbox } from '../../../fixtures/sandbox';

let sandbox: Sandbox;
let runner: AnswerRunner;

beforeAll(async () => {
  sandbox = await buildSandbox();
  runner = await sandbox.open({ workers: 1, limits: { floorMilliseconds: 400 } });
});
afterAll(() => sandbox.close());

interface Compared {
  readonly majority: number;
  readonly question: string | undefined;
}

async function compare(
  drafts: readonly string[],
  { name = 'f', description = '', asked = [] as readonly string[] } = {},
): Promise<Compared> {
  const { majority, disagreement } = await compareDrafts(drafts, { name, description }, runner, ({ call }) =>
    asked.includes(call.arguments.join()),
  );
  return { majority, question: disagreement && clarifyingQuestion(disagreement) };
}

describe('drafts', () => {
  it('that differ at a limit are told apart at the limit', async () => {
    const above = 'def f(weight):\n    return 9 if weight > 20 else 4';
    const from = 'def f(weight):\n    return 9 if weight >= 20 else 4';
    expect(await compare([above, from])).toEqual({
      ...{ majority: 0, question: 'For f(weight=20), should the result be 4 or 9?' },
    });
  });

  it('that give equal values agree, however they are written', async () => {
    const drafts = ['def f(x):\n    return x + x', '```python\ndef f(x):\n    return 2 * x\n```'];
    expect(await compare(drafts)).toEqual({ majority: 0, question: undefined });
  });

  it('are asked about by the simplest call first, and another one once that was asked', async () => {
    const drafts = ['def f(x):\n    return x', 'def f(x):\n    return x + 1'];
    expect((await compare(drafts)).question).toBe('For f(x=3), should the result be 3 or 4?');
    expect((await compare(drafts, { asked: ['3'] })).question).toBe(
      'For f(x=10), should the result be 10 or 11?',
    );
  });

  it('of which one fails are asked about as an error, unless two values differ elsewhere', async () => {
    const strict = 'def f(x):\n    if x == 0: raise ValueError()\n    return x';
    const lenient = 'def f(x):\n    return x';
    expect((await compare([strict, lenient])).question).toBe(
      'For f(x=0), should the result be 0, or is that an error?',
    );
  });

  it('have the majority of most equal ones, and a draft that always fails no voice', async () => {
    const [one, two] = ['def f(x):\n    return x', 'def f(x):\n    return x * 3'];
    expect((await compare([one, two, `${two}\n`])).majority).toBe(1);
    const broken = await compare(['def f(x):\n    return y', one]);
    expect(broken).toEqual({ majority: 1, question: undefined });
  });

  it('that never end, or cannot be run, are not asked about', async () => {
    const endless = 'def f(x):\n    while True: pass';
    expect(await compare(['def f(x):\n    return x', endless])).toMatchObject({ question: undefined });
    expect(await compare(['print(1)', 'nothing'])).toEqual({ majority: 0, question: undefined });
  });
});

describe('the calls fit parameters', () => {
  it.each([
    ['list', 'def f(scores):\n    return sum(s for s in scores if s > 5)', '> 5', '>= 5'],
    ['text', "def f(name):\n    return name.split('-')[0] + 'x'", "+ 'x'", "+ 'y'"],
    ['mapping', 'def f(stock):\n    return {k: v for k, v in stock.items() if v < 7}', '< 7', '<= 7'],
    ['pairs', 'def f(busy, end):\n    return [end - b for a, b in busy if b < end]', 'end - b', 'b - end'],
    [
      'records',
      "def f(items):\n    return sum(i['price'] * i['count'] for i in items)",
      "i['price'] * i",
      "2 * i['price'] * i",
    ],
    [
      'hints',
      'from typing import List\ndef f(n: int, s: List[str] = []):\n    return len(s) + n',
      '+ n',
      '- n',
    ],
  ])('of the kind: %s', async (_, draft, here, there) => {
    expect((await compare([draft, draft.replace(here, there)])).question).toMatch(/^For f\(.*result be/);
  });

  it('with values that the description quotes', async () => {
    const description = "It takes the kind, 'book' or 'dvd'. The signature of the function is: def f(kind)";
    const drafts = ['def f(kind):\n    return len(kind)', 'def f(kind):\n    return len(kind) // 4 * 4'];
    expect((await compare(drafts, { description })).question).toBe(
      "For f(kind='dvd'), should the result be 3 or 0?",
    );
  });
});
