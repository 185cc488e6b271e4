import { expect, it } from 'vitest';
import { execute } from '../../../src/core/grading/wasi/execution';
import type { Interpreter } from '../../../src/core/grading/wasi/interpreter';

// What a schema builds at its first use would stay half-made if the watchdog stopped it there.
it('what an interpreter says is read without a limit of time, which is the call’s', () => {
  // To read it takes many times as long as the call may take.
  const text = JSON.stringify({ kind: 'value', canonical: 'x'.repeat(50_000_000) });
  const says = {
    system: { startCall: () => undefined },
    rewind: () => undefined,
    prepare: () => undefined,
    step: () => text,
  } as unknown as Interpreter;
  const job = {
    source: '',
    calls: ['f()'],
    start: 0,
    mode: 'fixed',
    limitMilliseconds: 2,
    seed: '1',
  } as const;
  expect(execute(says, { ...job, own: [], provisional: true })).toMatchObject([
    { kind: 'error', type: 'InterpreterCrash', message: 'The code has tampered with its interpreter.' },
  ]);
});
