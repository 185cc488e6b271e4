import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkPage } from '../../../src/core/page/checks';
import { loadTasks } from '../../../src/core/task/pack';
import { writeStarterPack } from '../../../src/core/task/starter/worlds';
import { isProgram } from '../../../src/core/task/task';
import { sheet } from '../../fixtures/pages';

const sample = path.resolve('samples/workspace');
const shipped = path.join(sample, 'starter-world.jsonl');

it('begins with a pack of the starter world, as the generator writes it now', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-world-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const made = path.join(folder, 'made.jsonl');
  await writeStarterPack(made, {
    world: 'functions',
    tasks: 24,
    split: 'development',
    seed: 0,
    difficulty: 'standard',
  });
  expect(
    await readFile(made, 'utf8'),
    'The world has changed: npm run tandem -- world samples/workspace/starter-world.jsonl --tasks 24 --split development --overwrite',
  ).toBe(await readFile(shipped, 'utf8'));
});

it('has web pages that pass all their checks', async () => {
  const { tasks, bad } = await loadTasks(path.join(sample, 'web-pages.jsonl'));
  expect(bad).toEqual([]);
  expect(tasks.length).toBeGreaterThan(2);
  for (const task of tasks) {
    if (isProgram(task)) throw new Error(`${task.id} is no page.`);
    const failed = checkPage(task.reference, task.checks ?? [], sheet).filter(({ passed }) => !passed);
    expect(failed, task.id).toEqual([]);
    expect(task.checks?.length, task.id).toBeGreaterThan(5);
  }
});

it('is played by the starter model without any configuration', async () => {
  const text = await readFile(path.join(sample, '.vscode', 'settings.json'), 'utf8');
  expect(JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))).toEqual({
    'files.exclude': { '.shipped.json': true },
    'tandem.agent': 'starter',
    'tandem.simulator': 'rules',
    'tandem.protocol.maxTurns': 6,
  });
});
