import { expect, test } from 'vitest';
import { advice, onPath } from '../../../../scripts/setup/system.mjs';

test('what the system lacks is told with the command that installs it', () => {
  const missing = [
    { what: 'make', debian: 'make', present: () => false },
    { what: 'the Kerberos headers', debian: 'libkrb5-dev', present: () => false },
  ];
  expect(advice('The browser workbench', missing, ['make', 'libkrb5-dev'])).toBe(
    'The browser workbench needs what this system does not have: make, the Kerberos headers. To go on, run ' +
      '`sudo apt-get update && sudo apt-get install -y --no-install-recommends make libkrb5-dev`, then run the command again.',
  );
  expect(advice('The browser workbench', missing, undefined)).toContain('package manager of this system');
});

test('a program that is not on the PATH is not found', () => {
  expect(onPath('no-such-program', 'node')).toMatch(/node(\.exe)?$/);
  expect(onPath('no-such-program')).toBeUndefined();
});
