import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { StageLines } from '../../../src/cli/commands/loop';

let written: string[];
let lines: StageLines;

beforeEach(() => {
  written = [];
  vi.useFakeTimers({ toFake: ['performance'] });
  lines = new StageLines();
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  onTestFinished(() => {
    stderr.mockRestore();
    vi.useRealTimers();
  });
});

describe('the lines of a loop where no terminal is', () => {
  it('are one for each stage that is done, and say why one was skipped', () => {
    lines.show({ stage: 'tasks', state: 'skipped', said: '400 to learn from', seconds: 1 });
    lines.show({ stage: 'collect', state: 'begun', because: 'it has not been done yet' });
    lines.show({ stage: 'collect', state: 'done', said: '1,600 dialogues', seconds: 90 });
    expect(written).toEqual([
      'tasks     400 to learn from (skipped, nothing that it depends on has changed)\n',
      'collect   1,600 dialogues (done in 1 min 30 s)\n',
    ]);
  });

  it('tell now and then how far a stage is and how long it takes, from its own speed', () => {
    const working = (done: number) =>
      lines.show({ stage: 'collect', state: 'working', what: 'plays', unit: 'dialogues', done, total: 1600 });
    lines.show({ stage: 'collect', state: 'begun', because: 'it has not been done yet' });
    working(100);
    vi.advanceTimersByTime(15_000);
    working(400);
    working(401);
    expect(written).toEqual(['collect   plays 400 of 1,600 dialogues, 1 min 0 s left\n']);
  });
});
