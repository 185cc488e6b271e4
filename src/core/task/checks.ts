import type { Equality } from './python/asserts';
import type { Task } from './task';

const CHECK = 'tandem_check';

/**
 * Makes a task that can be graded without a reference: each test asks whether a claim (the expression of an assert)
 * holds, and the reference says that all do.
 * @param name the function; the reference has it too, so that claims mean the function even if a built-in has its name
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

export function checkable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(holds):\n    return bool(holds())\n`;
}

/**
 * Turns equalities into tests that show both values in their results, where `checkTask` only says whether they hold.
 */
export function valueTask(equalities: readonly Equality[], name: string): Task {
  const reference = `def ${CHECK}(call, wanted):\n    return wanted()\n\n\n${name} = None\n`;
  return {
    id: 'values',
    description: '',
    reference,
    testCases: equalities.map(({ call, wanted }, index) => ({
      name: `test${index + 1}`,
      call: `${CHECK}(lambda: (${call}), lambda: (${wanted}))`,
    })),
    hiddenInformation: reference,
  };
}

export function valuable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(call, wanted):\n    return call()\n`;
}
