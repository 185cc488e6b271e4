import { expect, it, onTestFinished, vi } from 'vitest';
import { RulesSimulator, type Simulator } from '../../../../src/core/dialogue/simulator';
import { Fault } from '../../../../src/core/fault';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import type { ToWebview } from '../../../../webview/simulator/protocol';
import { habitOf, playedBy } from '../../../fixtures/developers';
import { openLog } from '../../../fixtures/log';
import { starterPack } from '../../../fixtures/starter';

vi.mock('vscode', () => import('../vscode'));

const { commands, EventEmitter, WebviewPanel, window } = await import('../vscode');
const { simulatorPanels } = await import('../../../../src/editor/statistics/simulatorPanel');

const MODEL = 'openai:tester@http://127.0.0.1:1/v1';
const never: Simulator['reply'] = (_, { signal } = {}) =>
  new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error)));

/** Opens the page over a log; `reply` is what the model says. */
async function opened(log: TrajectoryLog, reply: Simulator['reply'] = never) {
  const event = new EventEmitter<void>().event;
  const report = vi.fn();
  const model: Simulator = { kind: 'simulator', name: MODEL, reply };
  const engine = {
    ...{ simulatorName: MODEL, localPlaces: [{ spec: 'starter' }], calledBy: String, report, show: report },
    ...{ servers: { all: [] }, editorModels: { all: () => Promise.resolve([]) }, onDidChangeModels: event },
    ...{ log: () => Promise.resolve(log), logIfAny: () => Promise.resolve(log) },
    openSimulator: (name: string) => Promise.resolve(name === 'rules' ? new RulesSimulator() : model),
  };
  const webview = new WebviewPanel();
  vi.spyOn(window, 'createWebviewPanel').mockReturnValue(webview);
  const panels = simulatorPanels({ extension: '/e', log: { engine, onDidChange: event } } as never);
  onTestFinished(() => panels.dispose());
  const panel = await panels.open('one');
  const shown = (): ToWebview => webview.posted.at(-1) as ToWebview;
  const act = (action: string): Promise<void> => webview.say({ type: 'act', action });
  const choose = (simulator: string, person = ''): Promise<void> =>
    webview.say({ type: 'choose', simulator, person });
  return { panel, webview, shown, act, choose, report };
}

async function ofTwo(): Promise<TrajectoryLog> {
  const tasks = (await starterPack()).slice(0, 8);
  const log = await playedBy(habitOf('ada'), tasks, { by: 'ada' });
  return playedBy(habitOf('ben'), tasks, { log, by: 'ben' });
}

const sentencesIn = ({ gap }: ToWebview): string[] =>
  gap!.findings.map((finding) => (typeof finding === 'string' ? finding : finding.sentence));

it('compares the rules at once, then those of one person', async () => {
  const { webview, shown, choose } = await opened(await ofTwo());
  await webview.say({ type: 'ready' });
  expect(shown()).toMatchObject({ simulator: 'rules', people: ['ada', 'ben'], progress: '', problem: '' });
  expect(shown().simulators.map(({ value }) => value)).toEqual(['rules', MODEL]);
  expect(shown().gap!.tables[0]!.rows.map(({ name }) => name)).toEqual([
    expect.objectContaining({ sentence: 'people' }),
    'Simulator (rules)',
  ]);
  await choose('rules', 'ben');
  expect(shown().person).toBe('ben');
  expect(sentencesIn(shown())).toEqual(['Too kind: it answers more of what the agent asks than people do.']);
});

it('asks a model only when it is told to, and can be cancelled', async () => {
  const { shown, choose, act } = await opened(await ofTwo());
  await choose(MODEL);
  expect(shown()).toMatchObject({ simulator: MODEL, progress: '' });
  expect(shown().gap).toBeUndefined();
  const comparing = act('compare');
  await expect.poll(() => shown().progress).toBe('0 of 32 replies');
  await act('cancel');
  await comparing;
  expect(shown()).toMatchObject({ progress: '', problem: '' });
  expect(shown().gap).toBeUndefined();
});

it('says why a model cannot be compared, and drops what comes of an earlier choice', async () => {
  const down = new Fault('model/unreachable', 'The server is away.');
  const { panel, shown, choose, report } = await opened(await ofTwo(), () => Promise.reject(down));
  await panel.compareWith(MODEL);
  expect(shown()).toMatchObject({ problem: 'The server is away.', progress: '' });
  expect(report).toHaveBeenCalledWith(down);
  const earlier = panel.compareWith(MODEL);
  await choose('rules');
  await earlier;
  expect(shown()).toMatchObject({ simulator: 'rules', problem: '' });
  expect(shown().gap!.isEmpty).toBe(false);
});

it('has nothing to compare without people, and offers a task', async () => {
  const { webview, shown, act } = await opened(await openLog());
  await webview.say({ type: 'ready' });
  expect(shown().gap).toMatchObject({ isEmpty: true });
  const run = vi.spyOn(commands, 'executeCommand');
  await act('play');
  expect(run).toHaveBeenCalledWith('tandem.playNext');
});
