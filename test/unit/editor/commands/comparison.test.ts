import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Runs, type Run } from '../../../../src/core/training/runs';
import { temporaryFolder } from '../../../fixtures/log';
import { window } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { commands } = await import('../../../../src/editor/commands');
const { RunWatch } = await import('../../../../src/editor/runs/runWatch');

let folder: string;
/** Runs of the shown log, and those of another folder of the workspace. */
let here: Runs;
let elsewhere: Runs;

beforeEach(async () => {
  window.showQuickPick.mockReset().mockResolvedValue(undefined);
  folder = await temporaryFolder();
  here = new Runs(path.join(folder, 'one'));
  elsewhere = new Runs(path.join(folder, 'two'));
});

async function makeRun(runs: Runs, id: string): Promise<Run> {
  await mkdir(path.join(runs.folder, id), { recursive: true });
  await writeFile(path.join(runs.folder, id, 'run.json'), JSON.stringify({ name: id }));
  return runs.find(id);
}

/** Calls the command on the selection; returns the offered and the compared runs. */
const compare = (...selected: Run[]) => chosenFor('compareRuns', selected);

async function chosenFor(name: 'compareRuns' | 'evaluateRuns', selected: readonly Run[]) {
  const logs = [here, elsewhere].map(({ dataFolder }) => ({ engine: { dataFolder } }));
  const shown = { engine: logs[0]!.engine, onDidChange: () => ({ dispose: () => undefined }) };
  const watch = new RunWatch({ logs, shown } as never, (error) => {
    throw error;
  });
  onTestFinished(() => watch.dispose());
  const compared: string[][] = [];
  const take = (runs: readonly Run[]) => Promise.resolve(void compared.push(runs.map(({ id }) => id)));
  const comparisons = {
    open: ({ ids }: { readonly ids: readonly string[] }) => {
      if (name === 'compareRuns') compared.push([...ids]);
      return Promise.resolve({ evaluate: take });
    },
  };
  const app = { runTree: { selection: () => Promise.resolve([]) }, runWatch: watch, comparisons };
  const rows = selected.map((run) => ({ kind: 'run', run }) as const);
  await commands[name].run(app as never, rows[0], rows.length < 2 ? undefined : rows);
  const offered = window.showQuickPick.mock.lastCall?.[0] as { label: string; picked: boolean }[] | undefined;
  return { compared, offered: offered?.map(({ label, picked }) => (picked ? `${label}, ticked` : label)) };
}

describe('runs to be compared', () => {
  it('are those of the log of the run that is looked at, whichever log is shown', async () => {
    await makeRun(here, 'a');
    await makeRun(here, 'b');
    const looked = await makeRun(elsewhere, 'c');
    await makeRun(elsewhere, 'd');
    expect(await compare(looked)).toEqual({ compared: [], offered: ['d', 'c, ticked'] });
    expect(await compare()).toEqual({ compared: [], offered: ['b', 'a'] });
  });

  it('are taken as they are selected, the earlier one first', async () => {
    const [a, b] = [await makeRun(here, 'a'), await makeRun(here, 'b')];
    expect(await compare(b, a)).toEqual({ compared: [['a', 'b']], offered: undefined });
  });
});
