import type { Equality } from './python/asserts';
import type { Task } from './task';

const CHECK = 'tandem_check';

/**
 * Turns claims about a function (the expressions of asserts) into a task that a grader can grade without a reference:
 * each test asks whether a claim holds, and the reference says that all do.
 * @param name name of the function; the reference has it too, so that claims mean the function even if a built-in has
 * its name
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

/** Adds to the code what the tests of `checkTask` call. */
export function checkable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(holds):\n    return bool(holds())\n`;
}

/**
 * Turns equalities into tests whose results show both values, where `checkTask` only tells whether they hold.
 * @param name name of the function
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

/** Adds to the code what the tests of `valueTask` call. */
export function valuable(code: string): string {
  return `${code.trimEnd()}\n\n\ndef ${CHECK}(call, wanted):\n    return call()\n`;
}
