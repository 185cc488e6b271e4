import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { checkLog } from '../../../../src/core/trajectory/check';
import { IndexStore } from '../../../../src/core/trajectory/index/store';
import { temporaryFolder } from '../../../fixtures/log';
import { fillLog, logShapes } from '../../../fixtures/logShapes';

afterEach(() => vi.restoreAllMocks());

/** Characters that pass between Tandem and the index while a log is checked, and the rows that change there. */
async function workOf(segments: Parameters<typeof fillLog>[1]): Promise<number> {
  const folder = join(await temporaryFolder(), '.tandem');
  await fillLog(folder, segments);
  // The index also notes the times of files that have not just changed, so how slow this machine is would count.
  const later = Date.now() + 60_000;
  vi.spyOn(Date, 'now').mockReturnValue(later);
  const inMemory = vi.spyOn(IndexStore, 'inMemory');
  const closing = vi.spyOn(IndexStore.prototype, 'close').mockReturnValue();
  const passing = (['write', 'get', 'all'] as const).map((name) => vi.spyOn(IndexStore.prototype, name));
  await checkLog(folder);
  const store = inMemory.mock.results[0]?.value as IndexStore;
  const rows = Number(store.database.prepare('select total_changes() as rows').get()?.rows);
  const passed = passing.flatMap(({ mock }) => [
    ...mock.calls.map((call) => JSON.stringify(call.slice(1))),
    ...mock.results.map(({ value }) => JSON.stringify([value])),
  ]);
  for (const spy of [inMemory, closing, ...passing]) spy.mockRestore();
  store.close();
  return passed.reduce((sum, { length }) => sum + length, 100 * rows);
}

it.each(Object.entries(logShapes))('a log of twice the size is twice the work: %s', async (_, shape) => {
  const [once, twice] = [await workOf(shape(80)), await workOf(shape(160))];
  expect(twice / once).toBeLessThan(2.3);
});
