// Runs a study of Tandem itself, which is not part of the product. `--help` lists the options:
//   node experiments/run.mjs scoreboard [options]
import { existsSync } from 'node:fs';
import path from 'node:path';

import { runBundled } from '../scripts/bundled.mjs';
import { root } from '../scripts/setup/project.mjs';
import { main, SetupFault } from '../scripts/setup/steps.mjs';

const assets = path.join(root, 'dist');

await main(async () => {
  if (!existsSync(assets)) throw new SetupFault('Nothing is built yet: run `npm run build` first.');
  return runBundled(path.join(import.meta.dirname, 'main.ts'), [assets, ...process.argv.slice(2)]);
});
