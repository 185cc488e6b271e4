import type { CallOutcome } from './runner';

/**
 * Modules that other Pythons have and an interpreter here may lack. An answer that imports one of them is not wrong;
 * nothing is known about it. An import of any other name fails everywhere and is the answer's own error. `ctypes` is
 * left out on purpose: no answer gets it.
 */
const modulesElsewhere = new Set([
  // Of the standard library, without their C part in WebAssembly.
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

/** Whether other Pythons have this module and an interpreter here may lack it. */
export function isElsewhere(module: string): boolean {
  return modulesElsewhere.has(module);
}

/** What the interpreter lacks to evaluate this call ("numpy", "threads"); undefined when the outcome stands. */
export function lacking(outcome: CallOutcome): string | undefined {
  if (outcome.kind !== 'error') return undefined;
  const { missingModule } = outcome;
  // Every interpreter has this module, so evaluation.py names it where no thread can be started.
  if (missingModule === '_thread') return 'threads';
  return missingModule !== undefined && isElsewhere(missingModule) ? missingModule : undefined;
}

/** A Python expression that fails as the answer's call did, in an interpreter that lacks this. */
export function probeFor(lack: string): string {
  if (lack === 'threads') return '__import__("threading").Thread(target=int).start()';
  if (lack === 'tzdata') return '__import__("zoneinfo").ZoneInfo("Europe/Berlin")';
  return `__import__(${JSON.stringify(lack)})`;
}

/**
 * Whether the source asks for something of that list, by an import at the start of a line. Such a source may catch the
 * ImportError and go on without, so that no outcome tells.
 */
export function importsElsewhere(source: string): boolean {
  for (const [, names] of source.matchAll(/^[ \t]*(?:import|from)[ \t]+([\w., \t]+)/gm)) {
    // Of "from a.b import c" the first name counts, of "import a.b as c, d" each first name.
    const modules = names!.split(/[ \t]import[ \t]/)[0]!.split(',');
    if (modules.some((name) => modulesElsewhere.has(name.trim().split(/[. \t]/)[0]!))) return true;
  }
  return false;
}
