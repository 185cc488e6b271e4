import { expect, it } from 'vitest';
import { execute } from '../../../../src/core/grading/wasi/execution';
import type { Interpreter } from '../../../../src/core/grading/wasi/interpreter';

const limitMilliseconds = 1_000;

// A schema initializes itself on first use, and would stay half-initialized if the watchdog stopped it then.
it('what an interpreter says is read without a limit of time, which is the call’s', () => {
  const said = {
    // Reading starts here and takes longer than the time limit of the call.
    toString: () => {
      const end = performance.now() + 1.5 * limitMilliseconds;
      while (performance.now() < end);
      return JSON.stringify({ kind: 'value', canonical: '1', none: false, display: '1' });
    },
  };
  const says = {
    system: { startCall: () => undefined },
    rewind: () => undefined,
    prepare: () => undefined,
    step: () => said,
  } as unknown as Interpreter;
  const job = {
    source: '',
    calls: ['f()'],
    start: 0,
    mode: 'fixed',
    seed: '1',
    own: [],
    imported: [],
  } as const;
  expect(execute(says, { ...job, limitMilliseconds })).toMatchObject([{ kind: 'value', canonical: '1' }]);
});
