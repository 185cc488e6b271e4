// Counts the files that a value passes on its way, as the tables of docs/architecture.md list them. `npm run lint` runs it.
import { existsSync, readFileSync } from 'node:fs';

/** Titles of the sections with such a table, and how many files may stand before the last one, the value's end. */
const limits = new Map([
  ['From a key press to the log', 6],
  ['From a training step to a chart', 8],
]);

/** Names by which a file takes what another process sent, and what the sender calls. */
const doors = new Map([
  ['onDidReceiveMessage', 'postMessage'],
  ['PageElement', 'postMessage'],
  ['EventTail', 'events.jsonl'],
]);

const document = readFileSync('docs/architecture.md', 'utf8');
const faults = [...limits].flatMap(([title, limit]) => {
  const section = document.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const steps = [...section.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
    text: existsSync(file) ? readFileSync(file, 'utf8') : '',
  }));
  const through = new Set(steps.slice(0, -1).map(({ file }) => file)).size;
  console.log(`${title}: ${through} files`);
  const broken = steps.flatMap(({ file, name, text }, index) => {
    const before = steps[index - 1];
    const isCalled =
      before === undefined || before.text.includes(doors.get(name) ?? name) || text.includes(before.name);
    if (text.includes(name) && isCalled) return [];
    return [`docs/architecture.md: ${file} has no ${name} that the file before it calls`];
  });
  if (steps.length < 2) return [`docs/architecture.md: the section “${title}” has no table of files`];
  return through > limit ? [...broken, `${title}: ${through} files, and ${limit} are enough`] : broken;
});

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
