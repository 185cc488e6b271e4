import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Runs, type Run } from '../../../../src/core/training/runs';
import { eventually } from '../../../fixtures/eventually';
import { temporaryFolder } from '../../../fixtures/log';
import { commands, EventEmitter, window, workspace } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { RunEndings } = await import('../../../../src/editor/runs/runEndNotices');

/** A time before any log was opened. */
const long = '2020-11-20T22:00:00.000Z';
/** A time after that. */
const later = '2100-11-20T22:00:00.000Z';
let runs: Runs;

beforeEach(async () => {
  window.showInformationMessage.mockReset().mockResolvedValue(undefined);
  window.showErrorMessage.mockReset().mockResolvedValue(undefined);
  commands.executeCommand.mockReset();
  runs = new Runs(path.join(await temporaryFolder(), '.tandem'));
});

/** Creates a run in its trainer's last state; without a state the trainer has died. */
async function run(
  name: string,
  state: 'running' | 'done' | 'failed' | 'stopped',
  { pid = 1, at = later } = {},
): Promise<Run> {
  const folder = path.join(runs.folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'run.json'), JSON.stringify({ name }));
  await writeFile(
    path.join(folder, 'launch.json'),
    JSON.stringify({ pid: 2 ** 22 + pid, host: 'gone', started: at, began: null, command: [] }),
  );
  const line = { version: 1, at, event: 'state', state, stage: 'critic' };
  await writeFile(path.join(folder, 'events.jsonl'), `${JSON.stringify(line)}\n`);
  const ended = (await runs.read(name))!;
  return state === 'running'
    ? {
        ...ended,
        state: 'failed',
        death: 'unknown',
        isLive: false,
        canResume: true,
        lastLines: ['CUDA error'],
      }
    : ended;
}

/** Makes the workspace state of a window. */
function memory() {
  const values = new Map<string, unknown>();
  return {
    get: (key: string, otherwise: unknown) => values.get(key) ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve(void values.set(key, value)),
  };
}

/** Opens a window with stored state that checks the runs on request. */
function opened(remembered = memory(), inSight: readonly string[] = []) {
  const looked = new EventEmitter<unknown>();
  const reported: unknown[] = [];
  const endings = new RunEndings(
    { onDidLook: looked.event } as never,
    ({ id }) => inSight.includes(id),
    remembered as never,
    (error) => reported.push(error),
  );
  return {
    remembered,
    reported,
    look: (...all: readonly Run[]) => looked.fire({ runs, all }),
    close: () => endings.dispose(),
  };
}

const told = (): string[] =>
  [...window.showInformationMessage.mock.calls, ...window.showErrorMessage.mock.calls].map(
    ([sentence]) => sentence,
  );
/** Waits long enough for notifications to appear. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

describe('how a run ended', () => {
  it('is told once, also when it did so while no window was open, with a button that resumes it', async () => {
    const before = opened();
    before.look();
    before.close();
    const died = await run('first', 'running');
    window.showErrorMessage.mockImplementation((_, ...actions) => Promise.resolve(actions[0]));
    const after = opened(before.remembered);
    after.look(died);
    await eventually(() => expect(commands.executeCommand).toHaveBeenCalled());
    expect(told()).toEqual([expect.stringMatching(/^first: failed\. .* The last one: CUDA error$/)]);
    expect(commands.executeCommand.mock.calls).toEqual([['tandem.resumeRun', { kind: 'run', run: died }]]);
    after.look(died);
    opened(before.remembered).look(died);
    await settled();
    expect(told()).toHaveLength(1);
    after.look(await run('first', 'running', { pid: 2 }));
    await eventually(() => expect(told()).toHaveLength(2));
    expect(after.reported).toEqual([]);
  });

  it('comes with an evaluation of a model that can play and was not evaluated', async () => {
    const here = opened();
    here.look();
    const done = await run('first', 'done');
    await mkdir(path.join(done.folder, 'model', 'onnx'), { recursive: true });
    window.showInformationMessage.mockImplementation((_, ...actions) => Promise.resolve(actions[0]));
    here.look(done);
    await eventually(() =>
      expect(commands.executeCommand.mock.calls).toEqual([
        ['tandem.evaluateRuns', { kind: 'run', run: done }],
      ]),
    );
  });

  it('is told in one of two windows', async () => {
    const [one, other] = [opened(), opened()];
    one.look();
    other.look();
    const died = await run('first', 'failed');
    one.look(died);
    other.look(died);
    await eventually(() => expect(told()).toHaveLength(1));
    await settled();
    expect(told()).toHaveLength(1);
    expect(one.reported).toEqual([]);
  });

  it('is no news of runs that come back with their log, but of those that were at work', async () => {
    const here = opened();
    here.look();
    const old = await run('old', 'failed', { at: long });
    const died = await run('young', 'failed', { at: long });
    const atWork: Run = { ...died, state: 'running', isLive: true };
    here.look(atWork, old);
    here.look();
    here.look(died, old);
    await eventually(() => expect(told()).toEqual([expect.stringMatching(/^young: failed/)]));
    await settled();
    expect(told()).toHaveLength(1);
  });

  it('is told quietly of runs that are done, of several at once, and not of one that is in view', async () => {
    const here = opened(undefined, ['seen']);
    here.look();
    window.showInformationMessage.mockResolvedValue('Show');
    const first = await run('first', 'done');
    here.look(first);
    await eventually(() => expect(told()).toEqual(['first is done.']));
    const seen = await run('seen', 'done');
    here.look(seen, first);
    await settled();
    here.look(await run('third', 'done'), await run('second', 'done'), seen, first);
    await eventually(() => expect(told()).toEqual(['first is done.', '2 runs are done: third, second.']));
    await eventually(() => expect(commands.executeCommand).toHaveBeenCalledTimes(2));
    expect(commands.executeCommand.mock.calls).toEqual([
      ['tandem.openRun', { kind: 'run', run: first }],
      ['tandem.runs.focus'],
    ]);
  });

  it('is told in a workspace that is not trusted without writing there', async () => {
    const here = opened();
    here.look();
    workspace.isTrusted = false;
    here.look(await run('first', 'done'));
    await eventually(() => expect(told()).toHaveLength(1));
    workspace.isTrusted = true;
    const other = opened(here.remembered);
    other.look(await run('first', 'done'));
    await settled();
    expect(told()).toHaveLength(1);
  });
});
