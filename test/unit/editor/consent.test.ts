import { describe, expect, it } from 'vitest';
import { AskedConsent, type Memory } from '../../../src/editor/consent';
import { openLog, temporaryFolder } from '../../fixtures/log';

function memoryOf(): Memory {
  const kept = new Map<string, unknown>();
  return {
    get: (key: string) => kept.get(key),
    update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
  };
}

describe('a consent in a window with several logs', () => {
  it('is changed in each log that has one of that pseudonym, and begun in no other', async () => {
    const logs = await Promise.all([1, 2, 3].map(async () => openLog(await temporaryFolder())));
    const memory = memoryOf();
    const [here, there, nowhere] = logs.map((log) => new AskedConsent(memory, () => Promise.resolve(log)));
    const consent = { pseudonym: 'kim', purpose: 'research', level: 'export' } as const;
    await here!.give(consent);
    await there!.record();
    await logs[2]!.append({ event: 'consent', pseudonym: 'lee', purpose: 'research', level: 'export' });

    await here!.give({ ...consent, level: 'local' });
    for (const one of [here, there, nowhere]) await one!.recordAgain();
    expect(logs.map((log) => log.allowed.of('kim')?.level)).toEqual(['local', 'local', undefined]);
    // The consent is recorded once, because the first log had it already.
    expect(logs.map((log) => log.consents.length)).toEqual([2, 2, 1]);
  });
});

describe('a signal that the consent did not name', () => {
  const kim = { pseudonym: 'kim', purpose: 'research', level: 'export' } as const;

  it('is covered only by a Yes, which stands in the log as the No does', async () => {
    const log = await openLog();
    const consent = new AskedConsent(memoryOf(), () => Promise.resolve(log));
    await consent.give(kim);
    expect(consent.answerTo('own-code')).toBeUndefined();
    const answers: unknown[] = [log.allowed.covers('kim', 'own-code')];
    for (const isAllowed of [true, false]) {
      await consent.answer('own-code', isAllowed);
      answers.push(log.allowed.covers('kim', 'own-code'), consent.answerTo('own-code'));
    }
    expect(answers).toEqual([false, true, true, false, false]);
    expect(log.consents.map(({ signals }) => signals)).toEqual([undefined, ['own-code'], []]);
  });

  it('stays covered when the same person changes the level, and not for another pseudonym', async () => {
    const log = await openLog();
    const consent = new AskedConsent(memoryOf(), () => Promise.resolve(log));
    await consent.give(kim);
    await consent.answer('own-code', true);
    await consent.give({ ...kim, level: 'local' });
    await consent.record();
    expect(log.allowed.covers('kim', 'own-code')).toBe(true);
    expect(log.consents).toHaveLength(3);
    await consent.give({ ...kim, pseudonym: 'lee' });
    expect(consent.answerTo('own-code')).toBeUndefined();
    expect(log.allowed.covers('lee', 'own-code')).toBe(false);
  });
});
