import { expect, it, vi } from 'vitest';
import { withInterpreter } from '../../../../src/editor/pythonEnvironments';

vi.mock('vscode', () => import('../vscode'));

const set = '"python.defaultInterpreterPath": "/opt/py\\"thon"';

it.each([
  ['', `{\n  ${set}\n}\n`],
  ['{}', `{\n  ${set}\n}`],
  ['// Ours\n{\n  "a": 1, // one\n}', `// Ours\n{\n  ${set},\n  "a": 1, // one\n}`],
  ['{ "python.defaultInterpreterPath" : "old\\"er", "a": 1 }', `{ ${set}, "a": 1 }`],
])('writes the interpreter into the settings %j', (before, after) => {
  expect(withInterpreter(before, '/opt/py"thon')).toBe(after);
});
