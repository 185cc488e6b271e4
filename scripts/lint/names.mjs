// Refuses names of files and constants that nobody would search for (CONTRIBUTING.md, Style). `npm run lint` runs it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folders = ['src', 'webview', 'trainer', 'test', 'experiments', 'scripts', 'examples', 'samples'];
const ignored = /(?:^|[\\/])(?:node_modules|build|__pycache__|\.\w+)(?:[\\/]|$)/;

/** Participles and vague nouns that do not say what a file holds, with an example of a better name. */
const files = new Map(
  Object.entries({
    told: 'eventMessages',
    tellings: 'estimateView',
    asked: 'confirmations',
    asking: 'questionKind',
    resting: 'finishedRunActions',
    called: 'displayNames',
    kept: 'creditCache',
    said: 'messageText',
    found: 'doctor_cache',
    room: 'capacity',
    settle: 'tokenize_turns',
    forest: 'prefix_tree',
    silence: 'heartbeat',
    beside: 'adjacentDialogues',
    remembered: 'gradeCache',
    offered: 'criticOptions',
    chosen: 'logSelection',
    pressed: 'clickTarget',
    leaving: 'endLinks',
  }),
);

const constant =
  /^(?:export )?(?:const )?((?:MOST|LONGEST|SHORTEST|LARGEST|SMALLEST|FEW|FEWEST|LEAST|LOOKS?|LOOKED|EVERY|ENOUGH|SOON|PATIENCE)(?:_[A-Z_]+)?)\s*[:=]/gm;

const faults = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|mts|mjs|py)$/.test(file) && !ignored.test(file))
    .flatMap((file) => {
      const place = path.join(folder, file);
      const stem = path.basename(file).split('.')[0] ?? '';
      const better = files.get(stem.replace(/^test_/, ''));
      const constants = [...readFileSync(place, 'utf8').matchAll(constant)].map(
        ([, name]) => `${place}: name the constant ${name} by its quantity, as MAX_ROWS or POLL_INTERVAL_MS`,
      );
      if (better === undefined) return constants;
      return [`${place}: name the file by the noun one would search for, as ${better}`, ...constants];
    }),
);

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
