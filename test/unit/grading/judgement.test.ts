import { describe, expect, it } from 'vitest';
import { believable, judge } from '../../../src/core/grading/judgement';
import type { CallOutcome } from '../../../src/core/grading/runner';

const value = (text: string): CallOutcome => ({
  kind: 'value',
  canonical: text,
  none: false,
  display: text,
  milliseconds: 1,
});
const missing = (module: string): CallOutcome => ({
  kind: 'error',
  type: 'ModuleNotFoundError',
  message: `No module named '${module}'`,
  line: 2,
  missingModule: module,
});
const noThread: CallOutcome = { kind: 'error', type: 'RuntimeError', message: "can't start new thread" };
const wrong = value('n9');
const failed: CallOutcome = { kind: 'error', type: 'ValueError', message: 'no' };

function grade(source: string, answer: readonly CallOutcome[]) {
  const reference = answer.map((_, index) => value(`n${index}`));
  return judge({ mode: 'fixed', reference, answer: believable(answer, source), limitMilliseconds: 200 });
}

describe('an answer that needs what the interpreter lacks', () => {
  it('is not gradable when nothing else is known against it', () => {
    expect(grade('import torch', [value('n0'), missing('torch')])).toMatchObject({
      reward: null,
      success: null,
      notGradable: 'The answer imports torch, which is not available to the grader on this machine.',
    });
    expect(grade('import threading', [value('n0'), noThread])).toMatchObject({ reward: null });
  });

  it.each([
    ['gives a wrong value', wrong],
    ['raises', failed],
    ['does not finish', { kind: 'timed-out' } as const],
  ])('has failed when it %s on another test, and the unknown test counts as not passed', (_how, outcome) => {
    const result = grade('import torch', [value('n0'), outcome, missing('torch')]);
    expect(result).toMatchObject({ reward: 1 / 3, success: false });
    expect(result.notGradable).toBeUndefined();
    expect(result.tests[2]).toMatchObject({ status: 'not-gradable' });
  });
});

describe('an error that only reads as if something were missing', () => {
  it('is the answer’s own when its source imports no such module', () => {
    const source = 'import math\ndef f(x):\n    raise ModuleNotFoundError("x", name="torch")  # import torch';
    expect(grade(source, [value('n0'), missing('torch')])).toMatchObject({ reward: 0.5, success: false });
  });

  it('is the answer’s own when its source imports nothing that starts threads', () => {
    const source = 'def f(x):\n    raise RuntimeError("can\'t start new thread")';
    expect(grade(source, [value('n0'), noThread])).toMatchObject({ reward: 0.5, success: false });
  });

  it.each([
    ['import math, torch as t', 'torch'],
    ['from torch.nn import functional', 'torch'],
    ['def f(x):\n    if x: import torch', 'torch'],
    ['torch = __import__("torch")', 'torch'],
    ['import importlib\ntorch = importlib.import_module("torch.nn")', 'torch'],
    ['import ssl', '_ssl'],
    ['import seaborn', 'scipy'],
    ['from concurrent.futures import ProcessPoolExecutor', '_multiprocessing'],
  ])('is believed with %j', (source, module) => {
    expect(grade(source, [missing(module)])).toMatchObject({ reward: null });
  });
});
