import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { packagedReadme } from '../../../scripts/package/readme.mjs';
import { contents, stage } from '../../../scripts/package/stage.mjs';
import { targets } from '../../../scripts/package/targets.mjs';
import { root } from '../../../scripts/setup/project.mjs';

const natives = (target: string): string[] =>
  contents(target, 'dist')
    .map(([, to]) => to)
    .filter((name) => name.includes('/bin/'));

test.each([...targets])(
  'a package for %s has the native parts of that platform and of no other',
  (target, native) => {
    const expected = native === null ? [] : [`dist/node_modules/onnxruntime-node/bin/napi-v6/${native}`];
    expect(natives(target)).toEqual(expected);
  },
);

test.each([...targets.keys()])('all that goes into a package for %s is there', (target) => {
  const missing = contents(target, 'media').filter(([from]) => !existsSync(path.join(root, from)));
  expect(missing).toEqual([]);
});

test('the page of a package leaves out what takes the repository, and says nothing of pages that are not there', () => {
  const page = packagedReadme(
    [
      '# Tandem\n',
      '<!-- development -->\n\nnpm start\n\n<!-- /development -->\n',
      'It plays [ColBench](https://arxiv.org/abs/1). The [starter',
      'model](docs/starter-model.md) ships ([why](docs/why.md)). It grades. [How](docs/how.md). ![A](pictures/a.png)\n',
      'See [changes](CHANGELOG.md).\n',
    ].join('\n'),
    (name) => name === 'CHANGELOG.md',
  );
  expect(page).toBe(
    [
      '# Tandem\n',
      'It plays [ColBench](https://arxiv.org/abs/1). The starter',
      'model ships. It grades. ![A](pictures/a.png)\n',
      'See [changes](CHANGELOG.md).\n',
    ].join('\n'),
  );
});

test('no page of a package has a link that leads nowhere, and its first page asks for no npm', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-staged-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  stage('darwin-x64', 'media', folder);
  const pages = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md'));
  expect(pages).toContain('README.md');
  const dead: string[] = [];
  for (const page of pages) {
    const text = await readFile(path.join(folder, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^(https?:|command:|#)/.test(target!)) continue;
      if (!existsSync(path.join(folder, path.dirname(page), target!))) dead.push(`${page}: ${target}`);
    }
  }
  expect(dead).toEqual([]);
  expect(await readFile(path.join(folder, 'README.md'), 'utf8')).not.toMatch(/npm |<!-- /);
});
