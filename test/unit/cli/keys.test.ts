import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { namedKeys } from '../../../src/cli/keys';

const lab = 'openai:m@http://lab.example:8000/v1';
const home = 'openai:n@HTTP://home.example/v1';

beforeEach(() => {
  vi.stubEnv('LAB_KEY', 'sk-lab');
  vi.stubEnv('HOME_KEY', 'sk-home');
});

afterEach(() => vi.unstubAllEnvs());

it('one variable holds the key of the one server on which models play', () => {
  const keyOf = namedKeys(['LAB_KEY'], [lab, 'openai:other@http://lab.example:8000/v2', 'rules']);
  expect(keyOf(lab)).toBe('sk-lab');
  expect(keyOf('openai:other@http://lab.example:8000/v2')).toBe('sk-lab');
  expect(keyOf('rules')).toBeUndefined();
  expect(keyOf('openai:m@http://lab.example:8001/v1')).toBeUndefined();
});

it('a model in a mixture gets its key', () => {
  expect(namedKeys(['LAB_KEY'], [`mixture:starter+${lab},critic=c`])(lab)).toBe('sk-lab');
});

it('the model and the verifier of a refining agent get their key', () => {
  expect(namedKeys(['LAB_KEY'], [`refine:starter,verifier=${lab}`])(lab)).toBe('sk-lab');
});

it('of several servers each gets its own, and one for which none is named gets none', () => {
  const named = namedKeys(
    ['LAB_KEY@http://lab.example:8000', 'HOME_KEY@http://home.example/v1'],
    [lab, home],
  );
  expect([lab, home].map(named)).toEqual(['sk-lab', 'sk-home']);
  expect([lab, home].map(namedKeys(['HOME_KEY@http://home.example'], [lab, home]))).toEqual([
    undefined,
    'sk-home',
  ]);
  expect(namedKeys(undefined, [lab])(lab)).toBeUndefined();
});

it.each<[string, readonly string[], readonly string[], string]>([
  ['a variable that is not set', ['NO_KEY'], [lab], 'the variable NO_KEY, which is not set'],
  ['the key itself', ['sk-secret-1'], [lab], 'the name of the variable'],
  ['one key and two servers', ['LAB_KEY'], [lab, home], 'Write LAB_KEY@http://lab.example:8000.'],
  ['a key and no server', ['LAB_KEY'], ['starter', 'rules'], 'no model here plays on a server'],
  [
    'a server on which none plays',
    ['LAB_KEY@http://x.example'],
    [lab],
    'no model here plays at http://x.example',
  ],
  ['an address that is none', ['LAB_KEY@lab'], [lab], '"lab" is not the address'],
  ['two keys for a server', ['LAB_KEY', 'HOME_KEY'], [lab], 'two keys for http://lab.example:8000'],
])('%s is refused', (_, variables, specs, part) => {
  expect(() => namedKeys(variables, specs)).toThrow(part);
});

it('a key that was written in place of a name is not repeated', () => {
  expect(() => namedKeys(['sk-secret-1'], [lab])).not.toThrow('sk-secret-1');
});
