import { expect, it } from 'vitest';
import { InstallingWords } from '../../../src/editor/installing';
import { english } from './translate';

const words = (lines: readonly string[]): (string | undefined)[] => {
  const said = new InstallingWords(3.1e9, english);
  return lines.map((line) => said.of(line));
};

it('says of what pip writes what is downloaded, how far that is, and what is installed', () => {
  expect(
    words([
      'Installing what the trainer needs, once: several gigabytes, which takes some minutes.',
      'Collecting torch==2.15.0 (from -r /project/requirements.lock (line 90))',
      '  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (29 kB)',
      '  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (539.1 MB)',
      '  Downloading nvidia_cublas-13.4.1.3-py3-none-manylinux_2_27_x86_64.whl (423.8 MB)',
      '  Using cached http://127.0.0.1/typing_extensions-4.16.0-py3-none-any.whl (45 kB)',
      'Installing collected packages: torch, typing-extensions',
      'Successfully installed torch-2.15.0 typing-extensions-4.16.0',
      'Installing collected packages: tandem-trainer',
    ]).filter((line) => line !== undefined),
  ).toEqual([
    'creating a Python environment',
    'downloading torch (539 MB)',
    'downloading nvidia_cublas (424 MB), 539 MB of about 3.1 GB so far',
    'installing 2 packages',
    'installing tandem-trainer',
  ]);
});

it('counts of what uv writes only what is there, since it begins many at once', () => {
  expect(
    words([
      'Resolved 65 packages in 12ms',
      'Downloading torch (514.1MiB)',
      'Downloading nvidia-cudnn (1.2GiB)',
      'Downloading sympy (6.0MiB)',
      ' Downloaded sympy',
      'Downloading networkx (2.0MiB)',
      ' Downloaded torch',
      ' Downloaded networkx',
      ' Downloaded something-unknown',
      ' Downloaded nvidia-cudnn',
      'Prepared 65 packages in 2m 03s',
    ]).filter((line) => line !== undefined),
  ).toEqual([
    'downloading torch (539 MB)',
    'downloading nvidia-cudnn (1.3 GB)',
    'downloading sympy (6.3 MB)',
    'downloaded sympy (6.3 MB), 6.3 MB of about 3.1 GB so far',
    'downloading networkx (2.1 MB), 6.3 MB of about 3.1 GB so far',
    'downloaded torch (539 MB), 545 MB of about 3.1 GB so far',
    'downloaded networkx (2.1 MB), 547 MB of about 3.1 GB so far',
    'downloaded nvidia-cudnn (1.3 GB), 1.8 GB of about 3.1 GB so far',
  ]);
});
