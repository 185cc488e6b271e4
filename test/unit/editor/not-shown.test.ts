import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Runs } from '../../../src/core/training/runs';
import { EditorMemory } from './stage';
import { temporaryFolder } from '../../fixtures/log';

vi.mock('vscode', () => import('./vscode'));
const { commands, EventEmitter, WebviewPanel } = await import('./vscode');
const { ComparisonPanel } = await import('../../../src/editor/comparison/panel');
const { ReplayPanel } = await import('../../../src/editor/replay/panel');
const { PinnedCharts } = await import('../../../src/editor/runs/pinned');
const { RunPanel } = await import('../../../src/editor/runs/panel');
const { RunTablePanel } = await import('../../../src/editor/runs/table/panel');

const noted = [[expect.objectContaining({ code: 'editor/not-shown' })]];
const onDidChange = new EventEmitter<void>().event;

/** Returns the dependencies of every panel; errors go to the first engine. */
const around = () => {
  const first = { report: vi.fn(), show: (error: unknown) => expect.fail(String(error)) };
  const pinned = new PinnedCharts(new EditorMemory());
  return { extension: '/e', engines: { first, onDidChangeLog: onDidChange }, pinned, first };
};

describe('what a page asks for and does not show', () => {
  it('is no run of a comparison', async () => {
    const page = new WebviewPanel();
    const runPanels = { open: vi.fn() };
    const on = { ...around(), runPanels, runWatch: { onDidChange } };
    const compared = { runs: new Runs(await temporaryFolder()), ids: ['r1'] };
    new ComparisonPanel(page as never, compared, on as never, vi.fn());
    await page.say({ type: 'open', run: 3 });
    expect(runPanels.open).not.toHaveBeenCalled();
    expect(on.first.report.mock.calls).toEqual(noted);
  });

  it('is no run that the table of runs does not have; the others are acted on', async () => {
    const page = new WebviewPanel();
    const { first, ...on } = around();
    const run = { id: 'r1', folder: '/w/.tandem/runs/r1' };
    const runPanels = { open: vi.fn() };
    const watch = { all: [run], onDidLook: onDidChange };
    const log = { engine: first, onDidChange };
    new RunTablePanel(page as never, { ...on, log, watch, runPanels } as never);
    await page.say({ type: 'open', id: 'r2' });
    expect(runPanels.open).not.toHaveBeenCalled();
    await page.say({ type: 'act', action: 'compare', ids: ['r2'] });
    expect(commands.executeCommand).not.toHaveBeenCalled();
    expect(first.report.mock.calls).toEqual([...noted, ...noted]);
    await page.say({ type: 'act', action: 'compare', ids: ['r1', 'r2'] });
    const row = { kind: 'run', run };
    expect(commands.executeCommand.mock.calls).toEqual([['tandem.compareRuns', row, [row]]]);
    commands.executeCommand.mockClear();
  });

  it.each(['play', 'pause'])('is no run that has not been read: %s', async (action) => {
    const page = new WebviewPanel();
    const on = { ...around(), watch: { onDidChange }, queue: { onDidChange } };
    const run = { id: 'r1', folder: path.join(await temporaryFolder(), 'runs', 'r1') };
    new RunPanel(page as never, run, on as never);
    await page.say({ type: 'act', action });
    expect(commands.executeCommand).not.toHaveBeenCalled();
    expect(on.first.report.mock.calls).toEqual(noted);
  });

  it('is no other dialogue of the log, and no turn that a critic has not read', async () => {
    const page = new WebviewPanel();
    const append = vi.fn();
    const log = {
      append,
      trajectory: () => expect.fail('It is not read.'),
      trajectories: async function* () {
        await Promise.resolve();
        yield { id: 'e1', turns: [] };
      },
    };
    const on = around();
    const engine = { log: () => Promise.resolve(log), consent: { given: { pseudonym: 'ada' } } };
    const engines = { ...on.engines, withEpisode: () => Promise.resolve(engine) };
    const credits = {
      choice: { onDidChange },
      known: () => Promise.resolve({ credits: [{ turns: [{ turn: 1, advantage: 1 }] }] }),
    };
    new ReplayPanel(page as never, ['e1'], { ...on, engines, credits } as never);
    await page.say({ type: 'act', action: 'open-transcript', episode: 'e2' });
    await page.say({ type: 'judge', episode: 'e2', turn: 1, agrees: true });
    await page.say({ type: 'judge', episode: 'e1', turn: 99, agrees: true });
    expect(commands.executeCommand).not.toHaveBeenCalled();
    expect(append).not.toHaveBeenCalled();
    expect(on.first.report.mock.calls).toEqual([noted[0], noted[0], noted[0]]);
  });
});
