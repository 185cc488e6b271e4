import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeStarterPack } from '../../../src/core/task/starter/pack';

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

it('is played by the starter model without any configuration', async () => {
  const text = await readFile(path.join(sample, '.vscode', 'settings.json'), 'utf8');
  expect(JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))).toEqual({
    'files.exclude': { '.shipped.json': true },
    'tandem.agent': 'starter',
    'tandem.simulator': 'rules',
    'tandem.protocol.maxTurns': 6,
  });
});
