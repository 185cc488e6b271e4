// Counts the imports that break the walls of `src/editor` (docs/architecture.md). `npm run lint` runs it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { arrows, doors, editor, views } from './editorArrows.mjs';

/**
 * Returns the name of a view, `app` for a door, or `shell`.
 *
 * @param {string} file relative to `src/editor`, without its ending
 */
function tierOf(file) {
  const [first = ''] = file.split('/');
  if (doors.includes(first)) return 'app';
  return views.includes(first) ? first : 'shell';
}

/**
 * Returns the files of `src/editor` that a file imports, at its start or later, without their endings.
 *
 * @param {string} file relative to `src/editor`
 */
function importsOf(file) {
  const text = readFileSync(path.join(editor, file), 'utf8');
  const imported = [...text.matchAll(/\b(?:from |import\()'(\.[^']+)'/g)].map(([, to = '']) =>
    path.posix.join(path.posix.dirname(file), to),
  );
  return new Set(imported.filter((to) => !to.startsWith('../')));
}

/** @type {Map<string, string[]>} */
const found = new Map();
for (const name of readdirSync(editor, { recursive: true, encoding: 'utf8' }).sort()) {
  const file = name.replaceAll(path.sep, '/');
  if (!file.endsWith('.ts')) continue;
  const from = tierOf(file.slice(0, -'.ts'.length));
  if (from === 'app') continue;
  for (const imported of importsOf(file)) {
    const to = tierOf(imported);
    if (to === 'shell' || to === from) continue;
    const arrow = `${from} -> ${to}`;
    found.set(arrow, [...(found.get(arrow) ?? []), `${file} imports ${imported}`]);
  }
}

/** @type {Map<string, number>} */
const listed = new Map();
for (const [from, targets] of Object.entries(arrows)) {
  for (const [to, count] of Object.entries(targets)) listed.set(`${from} -> ${to}`, count);
}
for (const arrow of new Set([...listed.keys(), ...found.keys()])) {
  const [imports, allowed] = [found.get(arrow) ?? [], listed.get(arrow) ?? 0];
  if (imports.length === allowed) continue;
  const remedy =
    imports.length > allowed
      ? 'Share it in the shell, let app.ts hand it over, or run a command.'
      : 'Lower the number in scripts/lint/editorArrows.mjs.';
  console.error(`src/editor: ${arrow} has ${imports.length} imports instead of ${allowed}. ${remedy}`);
  for (const line of imports) console.error(`  ${line}`);
  process.exitCode = 1;
}
