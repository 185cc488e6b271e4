import type { CallOutcome, Runner } from './runner';
import type { Gate } from './gate';
import type { GradingLimits } from './limits';
import { plainOutcome } from './outcome';

/**
 * Modules that other Pythons have and an interpreter here may lack: an answer that imports one is not gradable. An
 * import of any other name fails everywhere and is the answer's own error. `ctypes` is left out on purpose: no answer
 * gets it.
 */
const modulesElsewhere = new Set([
  // Modules of the standard library that lack their C part in WebAssembly.
  ...['curses', 'fcntl', 'grp', 'lzma', '_lzma', 'mmap', 'multiprocessing', '_multiprocessing'],
  ...[
    '_posixsubprocess',
    'pwd',
    'readline',
    'resource',
    'ssl',
    '_ssl',
    'syslog',
    'termios',
    'tkinter',
    '_tkinter',
  ],
  // Packages that answers import.
  ...['attr', 'attrs', 'Bio', 'bs4', 'Crypto', 'cryptography', 'cv2', 'cvxpy', 'dateutil', 'faker', 'flask'],
  ...[
    'gmpy2',
    'keras',
    'Levenshtein',
    'lxml',
    'matplotlib',
    'more_itertools',
    'mpmath',
    'nltk',
    'networkx',
    'numba',
  ],
  ...[
    'numpy',
    'pandas',
    'PIL',
    'pint',
    'plotly',
    'psutil',
    'pulp',
    'pydantic',
    'pytest',
    'pytz',
    'rdkit',
    'requests',
  ],
  ...[
    'scipy',
    'seaborn',
    'shapely',
    'skimage',
    'sklearn',
    'sortedcontainers',
    'spacy',
    'statsmodels',
    'sympy',
  ],
  ...[
    'tabulate',
    'tensorflow',
    'torch',
    'tqdm',
    'transformers',
    'typing_extensions',
    'tzdata',
    'unidecode',
    'xgboost',
    'yaml',
  ],
]);

export function isElsewhere(module: string): boolean {
  return modulesElsewhere.has(module);
}

/** Returns "numpy" or "threads"; undefined when the outcome stands. */
export function lacking(outcome: CallOutcome): string | undefined {
  if (outcome.kind !== 'error') return undefined;
  const { missingModule } = outcome;
  // Every interpreter has this module, so evaluation.py names it where no thread can be started.
  if (missingModule === '_thread') return 'threads';
  return missingModule !== undefined && isElsewhere(missingModule) ? missingModule : undefined;
}

/** A Python expression that fails as the answer's call did, in an interpreter that lacks this. */
function probeFor(lack: string): string {
  if (lack === 'threads') return '__import__("threading").Thread(target=int).start()';
  if (lack === 'tzdata') return '__import__("zoneinfo").ZoneInfo("Europe/Berlin")';
  return `__import__(${JSON.stringify(lack)})`;
}

/**
 * True if the source imports one of those modules at the start of a line. It may catch the ImportError and continue
 * without the module, so that no outcome shows it.
 */
export function importsElsewhere(source: string): boolean {
  for (const [, names] of source.matchAll(/^[ \t]*(?:import|from)[ \t]+([\w., \t]+)/gm)) {
    // The first name counts: of the whole in "from a.b import c", of each item in "import a.b as c, d".
    const modules = names!.split(/[ \t]import[ \t]/)[0]!.split(',');
    if (modules.some((name) => modulesElsewhere.has(name.trim().split(/[. \t]/)[0]!))) return true;
  }
  return false;
}

/** Asks a pristine interpreter, once for each runner and name. */
export class MissingModules {
  private readonly known = new Map<string, Promise<boolean>>();

  constructor(
    private readonly gate: Gate,
    private readonly limits: GradingLimits,
  ) {}

  has(runner: Runner, name: string): Promise<boolean> {
    const key = `${runner.version} ${name}`;
    const known = this.known.get(key) ?? this.ask(runner, name);
    this.known.set(key, known);
    // A failure of the runner is forgotten, since it may go right the next time.
    known.catch(() => this.known.delete(key));
    return known;
  }

  private async ask(runner: Runner, name: string): Promise<boolean> {
    const job = {
      source: '',
      calls: [probeFor(name)],
      start: 0,
      mode: 'fixed',
      limitMilliseconds: this.limits.ceilingMilliseconds,
      seed: '0',
      own: [],
      imported: [],
    } as const;
    const { calls } = await this.gate.together(() => runner.run(job));
    return calls.some((reply) => lacking(plainOutcome(reply)) === name);
  }
}
