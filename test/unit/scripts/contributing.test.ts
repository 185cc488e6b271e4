import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { expect, test } from 'vitest';

import { root } from '../../../scripts/setup/project.mjs';

const read = (name: string) => readFile(path.join(root, name), 'utf8');
const exists = (name: string) => existsSync(path.join(root, name));

interface Configuration {
  readonly name: string;
  readonly program?: string;
  readonly cwd?: string;
  readonly preLaunchTask?: string;
}
interface Launch {
  readonly configurations: readonly Configuration[];
  readonly compounds: readonly { readonly name: string; readonly configurations: readonly string[] }[];
}
interface Task {
  readonly label: string;
  readonly script?: string;
  readonly command?: string;
  readonly dependsOn?: string;
}
interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

const launch = JSON.parse(await read('.vscode/launch.json')) as Launch;
const { tasks } = JSON.parse(await read('.vscode/tasks.json')) as { readonly tasks: readonly Task[] };
const { scripts } = JSON.parse(await read('package.json')) as Manifest;
const page = await read('CONTRIBUTING.md');

/** Rows of the table without the headings of its groups. */
const rows = /^## Where do I change …$(.*?)^## /ms
  .exec(page)![1]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (what \||\*\*)/.test(line));

test('the table of places says for more than twenty things where they are changed and which test shows it', () => {
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) expect(row).toMatch(/^\| .+ \| .*`.+`.* \| .*`.+`.* \|$/);
});

test('several things of a row are told apart in both columns', () => {
  const parts = rows.map((row) => row.split(' | ').map((cell) => cell.split('; ').length));
  expect(rows.filter((_, index) => parts[index]![0] !== parts[index]![1])).toEqual([]);
});

test('every path and script in the table of places exists', () => {
  const named = rows
    .flatMap((row) => row.split(' | ').slice(1))
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))
    .filter((name) => !name.startsWith('t('));
  const missing = named.filter((name) =>
    name.startsWith('npm run ') ? !(name.slice('npm run '.length) in scripts) : !exists(name),
  );
  expect(missing).toEqual([]);
});

test('every link of the page leads to a file or to one of its headings', () => {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const targets = [...page.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!);
  const dead = targets.filter((target) =>
    target.startsWith('#') ? !headings.includes(target.slice(1)) : !exists(target.split('#')[0]!),
  );
  expect(dead).toEqual([]);
});

test('every npm script that the page names exists', () => {
  const named = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script!);
  expect(named.filter((script) => !(script in scripts))).toEqual([]);
});

test('every task that is started before debugging exists, and so does every program', () => {
  const labels = tasks.map(({ label }) => label);
  const names = launch.configurations.map(({ name }) => name);
  for (const { preLaunchTask, program, cwd } of launch.configurations) {
    if (preLaunchTask !== undefined) expect(labels).toContain(preLaunchTask);
    for (const place of [program, cwd]) {
      if (place !== undefined) expect(exists(place.replace('${workspaceFolder}/', ''))).toBe(true);
    }
  }
  for (const { configurations } of launch.compounds) {
    for (const name of configurations) expect(names).toContain(name);
  }
});

test('every task runs a script or file that exists, after a task that exists', () => {
  for (const { script, command, dependsOn } of tasks) {
    if (script !== undefined) expect(scripts).toHaveProperty(script);
    const [, file] = /^node (\S+)/.exec(command ?? '') ?? [];
    if (file !== undefined) expect(exists(file)).toBe(true);
    if (dependsOn !== undefined) expect(tasks.map(({ label }) => label)).toContain(dependsOn);
  }
});

test('the page names every debugging configuration, and no other', () => {
  const table = /^## Debug$(.*?)^## /ms.exec(page)![1]!;
  const named = [...table.matchAll(/^\| ([A-Z].+?) \|/gm)].map(([, name]) => name!);
  const all = [...launch.configurations, ...launch.compounds];
  expect(named.sort()).toEqual(all.map(({ name }) => name).sort());
});
