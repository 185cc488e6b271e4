import { describe, expect, it, vi } from 'vitest';
import { Runs } from '../../../src/core/training/runs';
import { temporaryFolder } from '../../fixtures/log';

vi.mock('vscode', async () => {
  const editor = await import('./vscode');
  return { ...editor, Uri: { ...editor.Uri, joinPath: (...parts: unknown[]) => parts.join('/') } };
});
const { commands } = await import('./vscode');
const { ComparisonPanel } = await import('../../../src/editor/comparison/panel');
const { ReplayPanel } = await import('../../../src/editor/replay/panel');
const { RunPanel } = await import('../../../src/editor/runs/panel');

/** A panel whose page the test is. */
function panel() {
  let listen: (said: unknown) => Promise<void> = () => Promise.resolve();
  const webview = {
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: (listener: typeof listen) => (listen = listener),
    postMessage: () => Promise.resolve(true),
  };
  const never = () => ({ dispose: () => undefined });
  const made = { webview, visible: true, onDidChangeViewState: never, onDidDispose: never };
  return { made: made as never, say: (said: unknown) => listen(said) };
}

const noted = [[expect.objectContaining({ code: 'editor/not-shown' })]];

describe('what a page asks for and does not show', () => {
  it('is no run of a comparison', async () => {
    const { made, say } = panel();
    const owner = { open: vi.fn(), report: vi.fn() };
    new ComparisonPanel(made, new Runs(await temporaryFolder()), ['r1'], owner as never, '/e' as never);
    await say({ type: 'open', run: 3 });
    expect(owner.open).not.toHaveBeenCalled();
    expect(owner.report.mock.calls).toEqual(noted);
  });

  it.each(['play', 'pause'])('is no run that has not been read: %s', async (action) => {
    const { made, say } = panel();
    const owner = { act: vi.fn(), report: vi.fn() };
    new RunPanel(made, new Runs(await temporaryFolder()), 'r1', owner as never, '/e' as never);
    await say({ type: 'act', action });
    expect(owner.act).not.toHaveBeenCalled();
    expect(owner.report.mock.calls).toEqual(noted);
  });

  it('is no other dialogue of the log, and no turn that a critic has not read', async () => {
    const { made, say } = panel();
    const append = vi.fn();
    const log = {
      append,
      trajectory: () => expect.fail('It is not read.'),
      trajectories: async function* () {
        await Promise.resolve();
        yield { id: 'e1', turns: [] };
      },
    };
    const first = { report: vi.fn(), show: (error: unknown) => expect.fail(String(error)) };
    const engine = { log: () => Promise.resolve(log), consent: { given: { pseudonym: 'ada' } } };
    const engines = { first, withEpisode: () => Promise.resolve(engine) };
    const credits = { known: () => Promise.resolve({ credits: [{ turns: [{ turn: 1, advantage: 1 }] }] }) };
    new ReplayPanel(made, ['e1'], engines as never, credits as never, '/e' as never);
    await say({ type: 'act', action: 'open-transcript', episode: 'e2' });
    await say({ type: 'judge', episode: 'e2', turn: 1, agrees: true });
    await say({ type: 'judge', episode: 'e1', turn: 99, agrees: true });
    expect(commands.executeCommand).not.toHaveBeenCalled();
    expect(append).not.toHaveBeenCalled();
    expect(first.report.mock.calls).toEqual([noted[0], noted[0], noted[0]]);
  });
});
