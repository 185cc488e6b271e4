import { describe, expect, it, vi } from 'vitest';
import { EditorMemory } from './stage';

vi.mock('vscode', () => import('./vscode'));
const { commands, EventEmitter, WebviewPanel } = await import('./vscode');
const { ReplayPanel } = await import('../../../src/editor/replay/panel');
const { PinnedCharts } = await import('../../../src/editor/run/charts');

const noted = [[expect.objectContaining({ code: 'editor/not-shown' })]];
const onDidChange = new EventEmitter<void>().event;

/** Returns the dependencies of every panel; errors go to the first engine. */
const around = () => {
  const first = { report: vi.fn(), show: (error: unknown) => expect.fail(String(error)) };
  const pinned = new PinnedCharts(new EditorMemory());
  return { extension: '/e', engines: { first, onDidChangeLog: onDidChange }, pinned, first };
};

describe('what a page asks for and does not show', () => {
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
