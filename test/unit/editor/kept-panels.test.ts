import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { malformed, strangers } from '../../fixtures/messages/malformed';

const { ended, adopted } = vi.hoisted(() => ({
  ended: () => ({ dispose: () => undefined }),
  /** What panels were made with. */
  adopted: [] as unknown[][],
}));

vi.mock('vscode', async () => {
  const editor = await import('./vscode');
  return { ...editor, window: { ...editor.window, registerWebviewPanelSerializer: ended } };
});
const panelOf = (name: string) => ({
  [name]: function (_: unknown, ...rest: unknown[]) {
    adopted.push(rest);
  },
});
vi.mock('../../../src/editor/runs/panel', () => panelOf('RunPanel'));
vi.mock('../../../src/editor/comparison/panel', () => panelOf('ComparisonPanel'));
vi.mock('../../../src/editor/runs/form/panel', () => panelOf('NewRunPanel'));

const { RunPanels } = await import('../../../src/editor/runs/panels');
const { Comparisons } = await import('../../../src/editor/comparison/panels');
const { NewRunPanels } = await import('../../../src/editor/runs/form/panels');
const { Packs } = await import('../../../src/editor/tasks/packs');

const dataFolder = path.resolve('/w/.tandem');
const engine = { dataFolder, configuration: { dataFolder } };
const engines = { logs: [{ engine }], first: engine, all: [], onDidChangeLog: ended } as never;
const watch = { onDidChange: ended } as never;

const run = { dataFolder, id: 'r1' };
const comparison = { dataFolder, ids: ['r1', 'r2'] };
const form = {
  ...{ dataFolder, values: { base: '/models/tiny' }, isUnfolded: true },
  copied: { of: 'Run', configuration: { model: { base: '/models/tiny' } }, data: '12 trajectories' },
};

const serializers = {
  run: { kept: run, panels: () => new RunPanels('/e' as never, engines, watch, watch) },
  comparison: {
    kept: comparison,
    panels: () => new Comparisons('/e' as never, engines, {} as never, {} as never, watch),
  },
  'new run': { kept: form, panels: () => new NewRunPanels('/e' as never, { engines } as never) },
};

/** @returns whether the panel was closed */
async function restored(name: keyof typeof serializers, kept: unknown): Promise<boolean> {
  const dispose = vi.fn();
  await serializers[name].panels().deserializeWebviewPanel({ dispose } as never, kept);
  return dispose.mock.calls.length > 0;
}

beforeEach(() => {
  adopted.length = 0;
});

describe.each(Object.keys(serializers) as (keyof typeof serializers)[])('a panel of a %s', (name) => {
  const { kept } = serializers[name];

  it('comes back with what it has kept', async () => {
    expect(await restored(name, kept)).toBe(false);
    expect(adopted).toHaveLength(1);
  });

  it('is closed when what was kept is no state, or comes back with a right one', async () => {
    for (const stranger of strangers) expect(await restored(name, stranger)).toBe(true);
    for (const { what, message } of malformed(kept)) {
      adopted.length = 0;
      const isClosed = await restored(name, message);
      expect(adopted, what).toHaveLength(isClosed ? 0 : 1);
      // What is too deep to be copied or written comes nowhere.
      expect(() => JSON.stringify(adopted), what).not.toThrow();
    }
  });
});

it.each(['..', '.', '', '../r1', '/etc', 'a/b'])('a run is not read from “%s”', async (id) => {
  expect(await restored('run', { ...run, id })).toBe(true);
  expect(await restored('comparison', { ...comparison, ids: ['r1', id] })).toBe(true);
});

it('a task is read from a pack of the window, and from no other file', async () => {
  const packs = new Packs({ all: [], of: () => engine } as never, (error) => expect.fail(String(error)));
  expect(
    await packs.task(path.resolve('samples/workspace/written-by-hand.jsonl'), 'parcel-surcharge'),
  ).toBeUndefined();
});
