// The tiers of `src/editor`, and the imports that still break its walls: for `oxlint.config.mts` and `arrows.mjs`.
import { readdirSync } from 'node:fs';
import path from 'node:path';

export const editor = path.join(import.meta.dirname, '../../src/editor');

/** What knows the views and wires them together: files of `src/editor` without their ending, and folders. */
export const doors = ['app', 'commands', 'agentTools'];

/** What views share. The files directly in `src/editor` are of the shell, too. */
export const shellFolders = ['collecting', 'credit', 'dialogue', 'manifest', 'run'];

/** All other folders; none knows another. */
export const views = readdirSync(editor, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...doors, ...shellFolders].includes(entry.name))
  .map(({ name }) => name);

/**
 * How many imports of one tier still lead into another that it must not know; `app` stands for the doors. The numbers
 * only fall.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, number>>>>}
 */
export const arrows = {
  teaching: { runs: 1 },
};
