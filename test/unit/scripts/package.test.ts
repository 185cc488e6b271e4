import { existsSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { contents } from '../../../scripts/package/stage.mjs';
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
