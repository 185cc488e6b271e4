import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Planner } from '../../../src/core/training/planner';
import type { Trainer } from '../../../src/core/training/trainer';
import { isRunning } from '../../../src/core/trajectory/heartbeat';
import { eventually } from '../../fixtures/eventually';
import { temporaryFolder } from '../../fixtures/log';
import { anyPython } from '../../fixtures/trainer';

/**
 * A planner without PyTorch; each run.json tells it what to do. It records its process id and each request.
 * `plan` answers, `refuse` refuses, `die` ends it, `nonsense` is an invalid answer, `hang` waits to be cancelled.
 */
const STAND_IN = `
import json, os, sys
from pathlib import Path
notes = Path(__file__).parent / "notes"
def note(*what):
    with notes.open("a") as file: print(*what, file=file)
def answer(**answer): print(json.dumps(answer), flush=True)
note("start", os.getpid())
for line in sys.stdin:
    asked = json.loads(line)
    if "cancel" in asked:
        note("cancel", asked["cancel"])
        answer(id=asked["cancel"], cancelled=True)
        continue
    number, run = asked["id"], json.loads(Path(asked["run"]).read_text())
    note("ask", number)
    if "plan" in run: answer(id=number, plan=run["plan"])
    elif "refuse" in run: answer(id=number, refused=asked["run"] + ": " + run["refuse"], usage=run["usage"])
    elif "die" in run: sys.exit(run["die"])
    elif "nonsense" in run: answer(id=number, plan="none")
`;

const plan = {
  machine: { name: 'cpu', dtype: 'float32', usable: null, measured: true },
  ...{ training: 'lora', fits: true, token_budget: 1, checkpoint_activations: false, needed: 1, disk: 1 },
  ...{ largest: 1, room: 1, seconds: {}, total_seconds: 1, advice: [] },
  data: {
    ...{ trajectories: 1, tasks: 1, successes: 1, turns: 1, tokens: 1, left_out: {}, shortages: [] },
    ...{ critic: { train: 1, held_out: 0 }, policy: { train: 1, held_out: 0 } },
  },
};

let folder: string;
let trainer: Trainer;
let planner: Planner;

beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(path.join(folder, 'tandem_trainer'));
  await writeFile(path.join(folder, 'tandem_trainer', '__main__.py'), STAND_IN);
  trainer = { python: anyPython(), source: folder };
  planner = new Planner(trainer);
});

afterEach(() => planner.end());

/** Creates a run folder with a command for the stand-in. */
async function run(name: string, does: object): Promise<string> {
  const of = path.join(folder, name);
  await mkdir(of);
  await writeFile(path.join(of, 'run.json'), JSON.stringify(does));
  return of;
}

async function noted(what: string): Promise<number[]> {
  const lines = (await readFile(path.join(folder, 'tandem_trainer', 'notes'), 'utf8')).split('\n');
  return lines.flatMap((line) => (line.startsWith(`${what} `) ? [Number(line.split(' ')[1])] : []));
}

describe('a planner', () => {
  it('is one process for one plan after another, until it is ended', async () => {
    const good = await run('good', { plan });
    expect(await planner.plan(good, 'the form')).toMatchObject({ fits: true, data: { tasks: 1 } });
    await planner.plan(good, 'the form');
    const [pid, ...others] = await noted('start');
    expect(others).toEqual([]);
    planner.end();
    await eventually(() => expect(isRunning(pid!)).toBe(false));
    await planner.plan(good, 'the form');
    expect(await noted('start')).toHaveLength(2);
  });

  it('that nobody asks for five minutes gives its memory back', async () => {
    const good = await run('good', { plan });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await planner.plan(good, 'the form');
    vi.advanceTimersByTime(4 * 60_000);
    await planner.plan(good, 'the form');
    expect(await noted('start')).toHaveLength(1);
    vi.advanceTimersByTime(5 * 60_000);
    vi.useRealTimers();
    const [pid] = await noted('start');
    await eventually(() => expect(isRunning(pid!)).toBe(false));
    await planner.plan(good, 'the form');
  });

  it('refuses in the trainer’s sentence, in which the file is called as the user calls it', async () => {
    const wrong = await run('wrong', { refuse: 'seed must be a number.', usage: true });
    await expect(planner.plan(wrong, 'the form')).rejects.toMatchObject({
      ...{ code: 'training/bad-configuration', message: 'the form: seed must be a number.' },
    });
    const full = await run('full', { refuse: 'no memory', usage: false });
    await expect(planner.plan(full, 'the form')).rejects.toMatchObject({ code: 'training/no-plan' });
  });

  it('that dies says why, and is started again for the next plan', async () => {
    const deadly = await run('deadly', { die: 'RuntimeError: the device is lost' });
    await expect(planner.plan(deadly, 'the form')).rejects.toMatchObject({
      ...{ code: 'training/no-plan', message: 'RuntimeError: the device is lost' },
    });
    await planner.plan(await run('good', { plan }), 'the form');
    expect(await noted('start')).toHaveLength(2);
  });

  it('gives up what is cancelled and goes on with the next in the same process', async () => {
    const stopping = new AbortController();
    const hanging = planner.plan(await run('hanging', { hang: true }), 'the form', {
      signal: stopping.signal,
    });
    await eventually(async () => expect(await noted('ask')).toEqual([1]));
    stopping.abort(new Error('another value'));
    await expect(hanging).rejects.toThrow('another value');
    await planner.plan(await run('good', { plan }), 'the form');
    expect([await noted('cancel'), (await noted('start')).length]).toEqual([[1], 1]);
  });

  it('that cannot be started says so', async () => {
    const none = new Planner({ ...trainer, python: path.join(folder, 'no-python') });
    await expect(none.plan(folder, 'the form')).rejects.toMatchObject({
      code: 'training/python-not-started',
    });
  });
});
