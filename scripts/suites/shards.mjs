// The shards of `npm run test:all`, and their results, which are kept for one state of the working tree.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { results, root } from '../setup/project.mjs';

/**
 * The suites of each shard, with the part of their files where a suite is divided. `.github/workflows/test.yml` has a
 * job for each.
 *
 * @type {ReadonlyMap<string, readonly { suite: string, part?: string }[]>}
 */
export const shards = new Map([
  ['unit', [{ suite: 'typecheck' }, { suite: 'lint' }, { suite: 'unit' }, { suite: 'sandbox' }]],
  ['process', [{ suite: 'process' }]],
  ['trainer', [{ suite: 'trainer' }, { suite: 'cluster' }]],
  ['neighbours', [{ suite: 'smoke' }, { suite: 'host' }, { suite: 'neighbours' }]],
  ['stories-1', [{ suite: 'stories', part: '1/3' }]],
  ['stories-2', [{ suite: 'stories', part: '2/3' }]],
  ['stories-3', [{ suite: 'stories', part: '3/3' }]],
]);

/** @typedef {{ outcome: import('./outcome.mjs').Outcome, took: number }} Kept `took` is in milliseconds */

/**
 * Opens the results of this state of the working tree, so that a run that was cut off continues where it was.
 *
 * @returns {{ read: (shard: string) => Kept | undefined, write: (shard: string, kept: Kept) => void }}
 */
export function keptResults() {
  const folder = path.join(results, 'shards', treeHash());
  const file = (/** @type {string} */ shard) => path.join(folder, `${shard}.json`);
  return {
    read: (shard) => {
      if (!existsSync(file(shard))) return undefined;
      /** @type {unknown} */
      const kept = JSON.parse(readFileSync(file(shard), 'utf8'));
      return /** @type {Kept} */ (kept);
    },
    write: (shard, kept) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file(shard), JSON.stringify(kept, undefined, 2));
    },
  };
}

/** @returns {string} git's hash of all files that it does not ignore, committed or not */
function treeHash() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tandem-tree-'));
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, {
      cwd: root,
      env: { ...process.env, GIT_INDEX_FILE: path.join(folder, 'index') },
      encoding: 'utf8',
    }).trim();
  try {
    git('add', '--all');
    return git('write-tree');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
