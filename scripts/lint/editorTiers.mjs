// The tiers of `src/editor`, between which `oxlint.config.mts` has walls.
import { readdirSync } from 'node:fs';
import path from 'node:path';

const editor = path.join(import.meta.dirname, '../../src/editor');

/** What knows the views and wires them together: files of `src/editor` without their ending, and folders. */
export const doors = ['app', 'commands', 'agentTools'];

/** What views share. The files directly in `src/editor` are of the shell, too. */
export const shellFolders = ['collecting', 'credit', 'dialogue', 'manifest', 'run'];

/** All other folders; none knows another. */
export const views = readdirSync(editor, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...doors, ...shellFolders].includes(entry.name))
  .map(({ name }) => name);
