/**
 * Sends every page more malformed messages than the tests do, and lists those after which it did not show later
 * messages.
 *
 *   npm run build && node test/bench/run.mjs messages [--page NAME] [--messages N] [--seed N | --random]
 */
import { parseArgs } from 'node:util';
import { toPages } from '../fixtures/messages/to-pages';
import { Pages, type PageName } from '../fixtures/messages/pages';

const { values } = parseArgs({
  options: {
    page: { type: 'string' },
    messages: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    random: { type: 'boolean', default: false },
  },
});
const seed = values.random ? Date.now() % 2 ** 31 : Number(values.seed);
console.log(`Seed ${seed}, at most ${values.messages} messages for each page.`);
await using pages = await Pages.open();
for (const name of Object.keys(toPages) as PageName[]) {
  if (values.page !== undefined && values.page !== name) continue;
  const before = performance.now();
  const { sent, wrong, slowest } = await pages.try(name, Number(values.messages), seed);
  const seconds = ((performance.now() - before) / 1000).toFixed(1);
  console.log(`${name}: ${sent} messages in ${seconds} s, ${wrong.length} not passed over.`);
  console.log(`  It took ${Math.round(slowest.milliseconds)} ms at most (${slowest.what}).`);
  for (const what of wrong.slice(0, 20)) console.log(`  ${what}`);
  if (wrong.length > 0) process.exitCode = 1;
}
