import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { temporaryFolder } from '../../fixtures/log';

/** Exports a log as chats; returns the dialogues in the file, and what was left out. */
export async function exported(
  log: TrajectoryLog,
  options: object = {},
): Promise<{ ids: string[]; leftOut: object }> {
  const file = join(await temporaryFolder(), 'rows.jsonl');
  const { leftOut } = await exportTrajectories(log, file, { format: 'chat', render: () => [], ...options });
  const rows = (await readFile(file, 'utf8')).trimEnd().split('\n').filter(Boolean);
  const ids = rows.map((row) => (JSON.parse(row) as { tandem: { episode: string } }).tandem.episode);
  return { ids, leftOut };
}
