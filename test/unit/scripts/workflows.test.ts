import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const folder = path.resolve('.github/workflows');

/** Actions from other repositories in all workflows. */
const used = readdirSync(folder).flatMap((file) =>
  [...readFileSync(path.join(folder, file), 'utf8').matchAll(/^ *(?:- )?uses: (.+)$/gm)].map(
    ([, what]) => `${file}: ${what}`,
  ),
);

it('workflows run the actions of others at one commit, beside the version that it is', () => {
  const others = used.filter((what) => !what.includes(': ./'));
  expect(others.length).toBeGreaterThan(0);
  expect(others.filter((what) => !/: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(what))).toEqual([]);
});
