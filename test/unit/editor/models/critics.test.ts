import { describe, expect, it, vi } from 'vitest';
import type { OfferedCritic } from '../../../../src/editor/credit/critics';
import { EventEmitter } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { Critics } = await import('../../../../src/editor/models/critics');

const critic = (fields: Partial<OfferedCritic> = {}): OfferedCritic => ({
  ...{ folder: '/project/.tandem/runs/one/critic', name: 'first try', from: 'run', about: 'today' },
  figures: { problem: 'It cannot be read.' },
  ...fields,
});

describe('the list of critics', () => {
  interface Look {
    readonly log: string;
    readonly find: (found: OfferedCritic[]) => void;
    readonly fail: (error: Error) => void;
  }

  /** Makes a list of critics; each search lasts until the test ends it. */
  function list() {
    const looks: Look[] = [];
    const reported: unknown[] = [];
    const logChanged = new EventEmitter<void>();
    const runEnded = new EventEmitter<void>();
    const log = { engine: 'first', onDidChange: logChanged.event };
    const choice = {
      chosen: undefined,
      onDidChange: new EventEmitter<void>().event,
      offered: (of: string) =>
        new Promise<OfferedCritic[]>((find, fail) => looks.push({ log: of, find, fail })),
    };
    const critics = new Critics(
      ...([choice, {}, log, { onDidEnd: runEnded.event }] as unknown as [never, never, never, never]),
      (error) => reported.push(error),
    );
    return { critics, looks, reported, log, logChanged, runEnded };
  }

  const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

  it('is made again when another log was chosen or a run ended while it was made', async () => {
    const { critics, looks, log, logChanged, runEnded } = list();
    critics.look();
    log.engine = 'second';
    logChanged.fire();
    runEnded.fire();
    expect(looks.map((look) => look.log)).toEqual(['first']);
    looks[0]!.find([]);
    await settled();
    expect(looks.map((look) => look.log)).toEqual(['first', 'second']);
    looks[1]!.find([critic()]);
    await settled();
    expect(looks).toHaveLength(2);
    expect(critics.node?.critics.map((row) => row.critic.name)).toEqual(['first try']);
  });
});
