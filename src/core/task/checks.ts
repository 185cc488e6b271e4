import type { Task } from './task';

const CHECK = 'tandem_check';

/**
 * Claims about a function (the expressions of asserts) as a task that a grader can grade without a reference: each test
 * asks whether a claim holds, and the reference says that all do.
 * @param name the function's; the reference has it too, so that claims mean the function even if a built-in has its name
 */
export function checkTask(claims: readonly string[], name: string): Task {
  const reference = `def ${CHECK}(holds):\n    return True\n\n\n${name} = None\n`;
  return {
    id: 'checks',
    description: '',
    reference,
    testCases: claims.map((claim, index) => ({
      name: `test${index + 1}`,
      call: `${CHECK}(lambda: (${claim}))`,
    })),
    hiddenInformation: reference,
  };
}

/** The code with what the tests of `checkTask` call. */
export function checkable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(holds):\n    return bool(holds())\n`;
}
