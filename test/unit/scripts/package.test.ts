import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { packagedPage } from '../../../scripts/package/page.mjs';
import { placeRuntime, targets } from '../../../scripts/package/runtime.mjs';
import { stage } from '../../../scripts/package/stage.mjs';
import { helpPages } from '../../../webview/ui/protocol';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-staged-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Files for Node to load below a folder, with `/` between the parts of their names. */
async function nativesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.(node|so|dylib|dll)\b/.test(name));
}

test('a build gets the native parts of one platform, and those of another in their place', async () => {
  const built = await temporaryFolder();
  for (const [target, native] of targets) {
    placeRuntime(built, target);
    const natives = await nativesIn(built);
    const folders = new Set(natives.map((name) => path.posix.dirname(name)));
    const expected = native === null ? [] : [`node_modules/onnxruntime-node/bin/napi-v6/${native}`];
    expect([...folders], target).toEqual(expected);
    expect(natives.filter((name) => name.endsWith('.node'))).toHaveLength(expected.length);
  }
});

test('the library for macOS is there once, under the name that the binding loads', async () => {
  const built = await temporaryFolder();
  placeRuntime(built, 'darwin-arm64');
  const folder = path.join(built, 'node_modules/onnxruntime-node/bin/napi-v6/darwin/arm64');
  const [library, ...others] = (await readdir(folder)).filter((name) => name.endsWith('.dylib'));
  expect(others).toEqual([]);
  expect(await readFile(path.join(folder, 'onnxruntime_binding.node'), 'latin1')).toContain(
    `@rpath/${library}\0`,
  );
});

test('the page of a package leaves out what takes the repository, and says nothing of pages that are not there', () => {
  const page = packagedPage(
    [
      '# Tandem\n',
      '<!-- development -->\n\nnpm start\n\n<!-- /development -->\n',
      'It plays [ColBench](https://arxiv.org/abs/1). The [starter',
      'model](docs/starter-model.md) ships ([why](docs/why.md)). It grades. [How](docs/how.md). ![A](pictures/a.png)\n',
      'See [changes](CHANGELOG.md#new).\n',
    ].join('\n'),
    (name) => name === 'CHANGELOG.md',
  );
  expect(page).toBe(
    [
      '# Tandem\n',
      'It plays [ColBench](https://arxiv.org/abs/1). The starter',
      'model ships. It grades. ![A](pictures/a.png)\n',
      'See [changes](CHANGELOG.md#new).\n',
    ].join('\n'),
  );
});

test('no page of a package has a link that leads nowhere, and its first page asks for no npm', async () => {
  const folder = await temporaryFolder();
  await stage('darwin-x64', folder);
  const pages = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md'));
  expect(pages).toContain('README.md');
  for (const page of helpPages) expect(pages).toContain(path.join('docs', `${page}.md`));
  const dead: string[] = [];
  for (const page of pages) {
    const text = await readFile(path.join(folder, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^(https?:|command:|#)/.test(target!)) continue;
      const [file] = target!.split('#');
      if (!existsSync(path.join(folder, path.dirname(page), file!))) dead.push(`${page}: ${target}`);
    }
  }
  expect(dead).toEqual([]);
  expect(await readFile(path.join(folder, 'README.md'), 'utf8')).not.toMatch(/npm |<!-- /);
});
