import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { shards } from '../../../scripts/suites/shards.mjs';
import { quickSuites, suites } from '../../../scripts/suites/suites.mjs';
import config from '../../../vitest.config.mjs';

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

it('every suite is in one shard, with all its parts, and every shard is a job', () => {
  const runs = [...shards.values()].flat();
  const whole = runs.filter(({ part }) => part === undefined).map(({ suite }) => suite);
  const parts = Map.groupBy(
    runs.filter(({ part }) => part !== undefined),
    ({ suite }) => suite,
  );
  for (const [suite, those] of parts) {
    expect(those.map(({ part }) => part)).toEqual(those.map((_, index) => `${index + 1}/${those.length}`));
    whole.push(suite);
  }
  expect(whole.toSorted()).toEqual([...suites.keys()].toSorted());
  expect(quickSuites.filter((suite) => !suites.has(suite))).toEqual([]);
  const workflow = readFileSync(path.join(folder, 'test.yml'), 'utf8');
  const jobs = /shard: \[(.*)\]/.exec(workflow)![1]!.split(', ');
  expect(jobs).toEqual([...shards.keys()]);
});

it('every folder of tests is one project of Vitest or a suite of its own', () => {
  const projects = config.test!.projects!.map((project) => {
    const { test } = project as { test: { name: string; include: string[] } };
    expect(test.include).toHaveLength(1);
    return test.include[0]!;
  });
  const tested = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file.split(path.sep)[0]!}/**/*.test.ts`);
  // Mocha runs test/host inside the editor.
  expect([...new Set(tested)].toSorted()).toEqual([...projects, 'test/host/**/*.test.ts'].toSorted());
});
