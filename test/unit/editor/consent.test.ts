import { describe, expect, it } from 'vitest';
import { AskedConsent } from '../../../src/editor/consent';
import { openLog, temporaryFolder } from '../../fixtures/log';

describe('a consent in a window with several logs', () => {
  it('is changed in each log that has one of that pseudonym, and begun in no other', async () => {
    const logs = await Promise.all([1, 2, 3].map(async () => openLog(await temporaryFolder())));
    const kept = new Map<string, unknown>();
    const memory = {
      get: (key: string) => kept.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
    };
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
