import type { CallOutcome, Runner } from './runner';
import type { Gate, GradingLimits } from './fairRun';
import { plainOutcome } from './outcome';

/**
 * Modules that other Pythons have and an interpreter here may lack: an answer that imports one is not gradable. An
 * import of any other name fails everywhere and is the answer's own error. `ctypes` is left out on purpose: no answer
 * gets it.
 */
const modulesElsewhere = new Set(
  // Modules of the standard library that lack their C part in WebAssembly.
  (
    'curses fcntl grp lzma _lzma mmap multiprocessing _multiprocessing pwd readline resource ssl _ssl syslog termios ' +
    'tkinter _tkinter ' +
    // Packages that answers import.
    'attr attrs Bio bs4 Crypto cryptography cv2 cvxpy dateutil faker flask gmpy2 keras Levenshtein lxml matplotlib ' +
    'more_itertools mpmath nltk networkx numba numpy pandas PIL pint plotly psutil pulp pydantic pytest pytz rdkit ' +
    'requests scipy seaborn shapely skimage sklearn sortedcontainers spacy statsmodels sympy tabulate tensorflow torch ' +
    'tqdm transformers typing_extensions tzdata unidecode xgboost yaml'
  ).split(' '),
);

export function isElsewhere(module: string): boolean {
  return modulesElsewhere.has(module);
}

/**
 * What an interpreter here may not allow, by the module that evaluation.py names for it: every interpreter has that module, or
 * one that fails.
 */
const withheld: ReadonlyMap<string, string> = new Map([
  ['_thread', 'threads'],
  ['_posixsubprocess', 'processes'],
  ['_socket', 'sockets'],
  ['_signal', 'signals'],
  ['_files', 'files'],
]);

/** Returns "numpy" or "threads"; undefined when the outcome stands. */
export function lacking(outcome: CallOutcome): string | undefined {
  if (outcome.kind !== 'error' || outcome.missingModule === undefined) return undefined;
  const { missingModule } = outcome;
  return withheld.get(missingModule) ?? (isElsewhere(missingModule) ? missingModule : undefined);
}

/** Python expressions that fail as the answer's call did, in an interpreter that lacks this. */
const probes: Readonly<Record<string, string>> = {
  threads: '__import__("threading").Thread(target=int).start()',
  processes: '__import__("subprocess").run(["true"])',
  sockets: '__import__("socket").socket()',
  signals: '__import__("signal").alarm(1)',
  files: 'open("/tmp/tandem", "w")',
  tzdata: '__import__("zoneinfo").ZoneInfo("Europe/Berlin")',
};

function probeFor(lack: string): string {
  return probes[lack] ?? `__import__(${JSON.stringify(lack)})`;
}

/** True if no runner has this, so that there is no use in trying another. */
export function isNowhere(lack: string): boolean {
  return lack === 'processes' || lack === 'sockets';
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
