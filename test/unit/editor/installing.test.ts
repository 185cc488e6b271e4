import { expect, it, vi } from 'vitest';
import { InstallingWords } from '../../../src/editor/trainer';
import { english } from './translate';

vi.mock('vscode', () => import('./vscode'));

const words = (lines: readonly string[]): (string | undefined)[] => {
  const said = new InstallingWords(3.1e9, english);
  return lines.map((line) => said.of(line));
};

it('says of what pip writes what is downloaded, how far that is, and what is installed', () => {
  expect(
    words([
      'Installing what the trainer needs, once: several gigabytes, which takes some minutes.',
      '  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (29 kB)',
      '  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (539.1 MB)',
      '  Downloading nvidia_cublas-13.4.1.3-py3-none-manylinux_2_27_x86_64.whl (423.8 MB)',
      'Installing collected packages: torch, typing-extensions',
    ]),
  ).toEqual([
    ...['creating a Python environment', undefined, 'downloading torch (539 MB)'],
    'downloading nvidia_cublas (424 MB), 539 MB of about 3.1 GB so far',
    'installing 2 packages',
  ]);
});

it('counts of what uv writes only what is there, since it begins many at once', () => {
  expect(
    words([
      'Downloading torch (514.1MiB)',
      'Downloading sympy (6.0MiB)',
      ' Downloaded sympy',
      ' Downloaded something-unknown',
      ' Downloaded torch',
    ]),
  ).toEqual([
    ...['downloading torch (539 MB)', 'downloading sympy (6.3 MB)'],
    'downloaded sympy (6.3 MB), 6.3 MB of about 3.1 GB so far',
    undefined,
    'downloaded torch (539 MB), 545 MB of about 3.1 GB so far',
  ]);
});

it('says how many bytes have arrived while one package is downloaded', () => {
  const said = new InstallingWords(3.1e9, english);
  expect(said.bytes(0)).toBeUndefined();
  said.of('  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (539.1 MB)');
  expect(said.bytes(310e6)).toBe('downloading torch (539 MB), 310 MB of about 3.1 GB so far');
  expect(said.fraction).toBeCloseTo(0.1);
  expect(said.bytes(310e6)).toBeUndefined();
  said.of('Installing collected packages: torch');
  expect(said.fraction).toBeUndefined();
});
