// Runs a benchmark: bundles test/bench/<name>/main.ts or test/bench/<name>.ts and runs it with the same Node.
//   node test/bench/run.mjs <name> [arguments of the benchmark]
import { existsSync } from 'node:fs';
import path from 'node:path';

import { runBundled } from '../../scripts/bundled.mjs';

const [name, ...rest] = process.argv.slice(2);
const entry = [`${name}/main.ts`, `${name}.ts`]
  .map((file) => path.join(import.meta.dirname, file))
  .find((file) => existsSync(file));
if (entry === undefined) {
  console.error(`There is no benchmark ${name}. Usage: node test/bench/run.mjs <name> [arguments]`);
  process.exit(2);
}
process.exitCode = await runBundled(entry, rest, ['--expose-gc']);
