import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { examine } from '../../../src/core/training/checks';
import type { Trainer } from '../../../src/core/training/trainer';
import { temporaryFolder } from '../../fixtures/log';

/** A trainer whose `doctor` reports its arguments. */
const ASKED = `
import json, sys
check = {"name": "asked", "status": "ok", "command": "", "saw": " ".join(sys.argv[1:])}
print(json.dumps({"version": 1, "ok": True, "checks": [check]}))
`;

let trainer: Trainer;

beforeEach(async () => {
  const source = await temporaryFolder();
  await mkdir(path.join(source, 'tandem_trainer'));
  await writeFile(path.join(source, 'tandem_trainer', '__main__.py'), ASKED);
  trainer = { python: 'python3', source };
});

const asked = async (...given: Parameters<typeof examine>): Promise<string> =>
  (await examine(...given))[0]!.saw;

describe('the look at a machine', () => {
  it('uses what was found whole before', async () => {
    expect(await asked({ ...trainer, found: '/cache/found' })).toBe('doctor --json --found /cache/found');
  });

  it('is a whole one when somebody asks for it again', async () => {
    const known = { ...trainer, found: '/cache/found' };
    expect(await asked(known, { again: true })).toBe('doctor --json --found /cache/found --again');
  });

  it('is a whole one where nothing can be kept', async () => {
    expect(await asked(trainer)).toBe('doctor --json');
  });
});
