import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { examine } from '../../../src/core/training/checks';
import { temporaryFolder } from '../../fixtures/log';

/** A trainer whose `doctor` reports its arguments. */
const ASKED = `
import json, sys
check = {"name": "asked", "status": "ok", "command": "", "saw": " ".join(sys.argv[1:])}
print(json.dumps({"version": 1, "ok": True, "checks": [check]}))
`;

it('the look at a machine uses what was found whole before, unless it is asked for again', async () => {
  const source = await temporaryFolder();
  await mkdir(path.join(source, 'tandem_trainer'));
  await writeFile(path.join(source, 'tandem_trainer', '__main__.py'), ASKED);
  const trainer = { python: 'python3', source, found: '/cache/found' };
  const asked = async (again: boolean): Promise<string> => (await examine(trainer, { again }))[0]!.saw;
  expect(await asked(false)).toBe('doctor --found /cache/found --json');
  expect(await asked(true)).toBe('doctor --found /cache/found --again --json');
});
