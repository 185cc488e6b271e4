import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { root } from '../../scripts/setup/project.mjs';
import { QUICK } from '../../src/core/evaluation/loop/settings';
import { Runs } from '../../src/core/training/runs';

const command = promisify(execFile);

/** Runs of the pictures: one that learns as recommended, and its control. */
export const runs = [
  { name: 'first 600 dialogues', critic: {} },
  { name: 'without hidden information', critic: { hidden_information: false } },
];

/**
 * Makes a workspace as somebody has who has worked with Tandem for an hour: 600 dialogues of the starter model, and two
 * runs that learned from them. What an earlier call has made stays; a call that was stopped goes on.
 *
 * @param folder of the workspace, absolute
 * @throws Error when a command fails, with its output
 */
export async function prepareWorkspace(folder: string): Promise<void> {
  const data = path.join(folder, '.tandem');
  await cp(path.join(root, 'samples', 'workspace'), folder, { recursive: true });
  const tasks = path.join(data, 'tasks', 'learn.jsonl');
  if (!existsSync(tasks)) await tandem(folder, ['world', tasks, '--tasks', '150']);
  await tandem(folder, [
    ...['collect', '--tasks', tasks, '--agent', 'starter', '--simulator', 'rules'],
    ...['--rollouts', '4', '--max-turns', '6'],
  ]);
  const there = (await new Runs(data).list()).filter(({ state }) => state === 'done');
  for (const run of runs) {
    if (there.some(({ name }) => name === run.name)) continue;
    const file = path.join(data, 'run.json');
    const { model, data: pairing, critic, ...others } = QUICK.training;
    const configuration = {
      ...{ name: run.name, ...others },
      model: { ...model, base: path.join(root, 'dist', 'starter') },
      data: { ...pairing, log: data },
      critic: { ...(critic as object), ...run.critic },
      export: { onnx: ['int8'] },
    };
    await writeFile(file, JSON.stringify(configuration));
    await tandem(folder, ['train', file, '--follow']);
  }
}

async function tandem(folder: string, args: readonly string[]): Promise<void> {
  console.log(`tandem ${args.join(' ').replaceAll(folder, '.')}`);
  await command(process.execPath, [path.join(root, 'dist', 'tandem.js'), ...args], {
    cwd: folder,
    maxBuffer: 64_000_000,
  });
}
