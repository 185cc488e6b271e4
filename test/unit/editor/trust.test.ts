import { describe, expect, it } from 'vitest';
import { Consent } from '../../../src/editor/consent';
import { erasedWords, whatGoes } from '../../../src/editor/trust/deletionWords';
import { openLog, temporaryFolder } from '../../fixtures/log';
import { english } from './translate';

const none = { runs: [], experiments: [] };

describe('a consent in a window with several logs', () => {
  it('is changed in each log that has one of that pseudonym, and begun in no other', async () => {
    const logs = await Promise.all([1, 2, 3].map(async () => openLog(await temporaryFolder())));
    const kept = new Map<string, unknown>();
    const memory = {
      get: (key: string) => kept.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
    };
    const [here, there, nowhere] = logs.map((log) => new Consent(memory, () => Promise.resolve(log)));
    const consent = { pseudonym: 'kim', purpose: 'research', level: 'export' } as const;
    await here!.give(consent);
    await there!.record();
    await logs[2]!.append({ event: 'consent', pseudonym: 'lee', purpose: 'research', level: 'export' });

    await here!.give({ ...consent, level: 'local' });
    for (const one of [here, there, nowhere]) await one!.recordAgain();
    expect(logs.map((log) => log.allowed.of('kim')?.level)).toEqual(['local', 'local', undefined]);
    // Recorded once: it was in the first one already.
    expect(logs.map((log) => log.consents.length)).toEqual([2, 2, 1]);
  });
});

describe('a deletion from several data folders', () => {
  it('says before it what goes, by folder', () => {
    const alpha = { name: 'alpha', dialogues: 3, made: { ...none, runs: ['r1'] } };
    const beta = { name: 'beta', dialogues: 1, made: { ...none, experiments: ['loops/full'] } };
    const text = whatGoes([alpha, beta], english);
    expect(text).toMatch(/^4 dialogues \(alpha: 3 dialogues, beta: 1 dialogue\) played under this pseudonym/);
    expect(text).toContain('Runs that were trained with them, and their models: r1.');
    expect(text).toContain('Not deleted from the logs of these loops and scoreboards: loops/full.');
    expect(whatGoes([{ ...alpha, made: none }], english)).toMatch(
      /^3 dialogues played under this pseudonym(?!.*Runs)/s,
    );
  });

  it('says after it what is gone from where', () => {
    const alpha = { place: '/w/alpha', episodes: 3, lines: 40, ...none, runs: ['r1', 'r2'] };
    const beta = { place: '/w/beta', episodes: 1, lines: 9, ...none, experiments: ['loops/full'] };
    expect(erasedWords('kim', [alpha, beta], english)).toBe(
      'All data of kim has been deleted from /w/alpha: 3 dialogues, 2 runs; /w/beta: 1 dialogue, loops/full.',
    );
  });
});
