import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { WebviewPanelSerializer } from 'vscode';

/** Arguments with which panels were made. */
const adopted = vi.hoisted(() => [] as unknown[][]);

vi.mock('vscode', () => import('./vscode'));
const panelOf = (name: string) => ({
  [name]: function (_: unknown, ...rest: unknown[]) {
    adopted.push(rest.slice(0, 1));
  },
});
vi.mock('../../../src/editor/comparison/panel', () => panelOf('ComparisonPanel'));
vi.mock('../../../src/editor/runs/form/panel', () => panelOf('NewRunPanel'));

const { EventEmitter, WebviewPanel, window } = await import('./vscode');
const { runPanels } = await import('../../../src/editor/runs/panel');
const { comparisonPanels } = await import('../../../src/editor/comparison/comparisons');
const { RunForms } = await import('../../../src/editor/runs/form/runForms');
const { Sessions } = await import('../../../src/editor/session/sessions');
const { Packs } = await import('../../../src/editor/packs');

const dataFolder = path.resolve('/w/.tandem');
const engine = { dataFolder, configuration: { dataFolder } };
const engines = {
  first: engine,
  withDataFolder: (folder: string | undefined) => (folder === dataFolder ? engine : undefined),
} as never;
const watch = { onDidChange: new EventEmitter<void>().event } as never;

const run = { dataFolder, id: 'r1' };
const comparison = { dataFolder, ids: ['r1', 'r2'] };
const form = {
  ...{ dataFolder, values: { base: '/models/tiny' }, isUnfolded: true },
  copied: { of: 'Run', configuration: { model: { base: '/models/tiny' } }, data: '12 trajectories' },
};

const kinds = {
  run: {
    kept: run,
    panels: () => runPanels({ extension: '/e' as never, engines, watch, queue: watch, pinned: watch }),
  },
  comparison: {
    kept: comparison,
    panels: () => comparisonPanels({ extension: '/e', engines, runWatch: watch, pinned: watch } as never),
  },
  'new run': { kept: form, panels: () => new RunForms('/e' as never, { engines } as never) },
};

/** Restores a panel from what was kept of it, with the serializer that these panels register. */
async function deserialized(
  panels: () => unknown,
  kept: unknown,
): Promise<InstanceType<typeof WebviewPanel>> {
  const register = vi.spyOn(window, 'registerWebviewPanelSerializer');
  panels();
  const [, serializer] = register.mock.lastCall as unknown as [string, WebviewPanelSerializer];
  const panel = new WebviewPanel();
  await serializer.deserializeWebviewPanel(panel as never, kept);
  return panel;
}

/** @returns whether the panel was closed */
async function restored(name: keyof typeof kinds, kept: unknown): Promise<boolean> {
  const panel = await deserialized(() => kinds[name].panels(), kept);
  // A real panel has a page.
  if (name === 'run' && panel.webview.html !== '') adopted.push([]);
  return panel.isClosed;
}

beforeEach(() => {
  adopted.length = 0;
});

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('a panel of a %s', (name) => {
  const { kept } = kinds[name];

  it('comes back with what it has kept', async () => {
    expect(await restored(name, kept)).toBe(false);
    expect(adopted).toHaveLength(1);
  });

  it.each([undefined, 'text', {}, { ...kept, dataFolder: '/else' }])(
    'is closed when that is %j',
    async (stranger) => {
      expect(await restored(name, stranger)).toBe(true);
      expect(adopted).toEqual([]);
    },
  );
});

it('an older form of a new run has a score of the critic in place of its method', async () => {
  expect(await restored('new run', { ...form, values: { method: 'value-head' } })).toBe(false);
  const values = { method: 'sweet-rl', 'critic.score': 'value-head' };
  expect(adopted).toEqual([[expect.objectContaining({ values })]]);
});

it.each([{ values: { base: 7 } }, { copied: 'x' }])('a form that has kept %j is closed', async (wrong) => {
  expect(await restored('new run', { ...form, ...wrong })).toBe(true);
});

it('a session that was left before it drew anything is closed without a word', async () => {
  const listening = { dispose: () => undefined };
  const show = vi.fn();
  const sessions = (): unknown =>
    new Sessions(
      ...([{}, { onDidChange: () => listening }] as [never, never]),
      { onDidChangeLog: () => listening, first: { show } } as never,
      ...([{}, { onDidChangeTreeData: () => listening }, {}] as [never, never, never]),
    );
  expect((await deserialized(sessions, undefined)).isClosed).toBe(true);
  expect(show).not.toHaveBeenCalled();
});

it.each(['..', '', '../r1', '/etc', 'a/b'])('a run is not read from “%s”', async (id) => {
  expect(await restored('run', { ...run, id })).toBe(true);
  expect(await restored('comparison', { ...comparison, ids: ['r1', id] })).toBe(true);
});

it('a task is read from a pack of the window, and from no other file', async () => {
  const packs = new Packs({ all: [], of: () => engine } as never, (error) => expect.fail(String(error)));
  expect(
    await packs.task(path.resolve('samples/workspace/written-by-hand.jsonl'), 'parcel-surcharge'),
  ).toBeUndefined();
});

it('a form for a simulator takes people’s replies in the dialogues of the list, also in failed ones', async () => {
  const shown = { engine: { ...engine, localPlaces: [] } };
  const forms = new RunForms('/e' as never, { engines: { shown }, filter: () => ({ pack: 'p' }) } as never);
  await forms.fitSimulator();
  const values = { pack: 'p', role: 'collaborator', method: 'rft', 'policy.minimum_reward': '0' };
  expect(adopted).toEqual([[{ dataFolder, values }]]);
});
