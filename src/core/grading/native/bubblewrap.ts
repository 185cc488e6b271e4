import path from 'node:path';
import * as z from 'zod';

/** Contents of the sandbox, as python/describe.py reports them. */
export const descriptionForm = z.object({
  /** Path of the interpreter, which is no link. */
  executable: z.string(),
  /** Shared libraries outside of the folders, by the paths under which the linker finds them. */
  libraries: z.array(z.string()),
  folders: z.array(z.string()),
  path: z.array(z.string()),
  versions: z.record(z.string(), z.string()),
});
export type Description = z.infer<typeof descriptionForm>;

export interface SandboxContent {
  readonly description: Description;
  readonly scripts: string;
  /** Folder of evaluation.py and its neighbours, which judge values in every runner. */
  readonly evaluation: string;
  readonly modules: readonly string[];
  /** Memory that one job may use on top of the imported libraries, bytes. */
  readonly memoryBytes: number;
  readonly user: number;
}

const environment = {
  // Libraries that start threads of their own would make forking unsafe.
  MKL_NUM_THREADS: '1',
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  // A fixed seed makes the order of a set the same for a reference and for an answer.
  PYTHONHASHSEED: '0',
};

/**
 * Returns the arguments of bubblewrap: only the interpreter and its libraries are inside, read-only, without a way out.
 *
 * Root stays root without a user namespace, with the capabilities to start children as nobody and to end them: the
 * limit of processes does not hold for root, and a user namespace that root makes by bubblewrap has no user but root.
 */
export function bubblewrapArguments({ description, ...inside }: SandboxContent): string[] {
  const { executable, libraries, folders, versions } = description;
  const scripts = '/tandem/native';
  const evaluation = '/tandem/evaluation';
  const files = [executable, ...libraries, ...folders];
  // Without these, bubblewrap closes the folders above a private one to all users but root.
  const above = [...new Set([...files, '/dev/null'].flatMap(foldersAbove))]
    .sort()
    .flatMap((folder) => ['--dir', folder]);
  const readable = files.flatMap((file) => ['--ro-bind', file, file]);
  const settings = Object.entries({ ...environment, ...linkerSettings() });
  const modules = inside.modules.filter((name) => name in versions);
  const { memoryBytes } = inside;
  return [
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--clearenv', '--cap-drop', 'ALL'],
    ...(inside.user === 0
      ? [
          ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
          ...['SETUID', 'SETGID', 'KILL'].flatMap((name) => ['--cap-add', `CAP_${name}`]),
        ]
      : ['--unshare-all', '--unshare-user', '--disable-userns']),
    ...settings.flatMap(([name, value]) => ['--setenv', name, value]),
    ...above,
    ...readable,
    ...['--ro-bind', inside.scripts, scripts, '--ro-bind', inside.evaluation, evaluation],
    ...['--dev-bind', '/dev/null', '/dev/null', '--remount-ro', '/', '--chdir', '/', '--'],
    ...[executable, '-B', `${scripts}/zygote.py`],
    JSON.stringify({ path: description.path, modules, memoryBytes, evaluation }),
  ];
}

function foldersAbove(file: string): string[] {
  const above = path.dirname(file);
  return above === '/' ? [] : [...foldersAbove(above), above];
}

/** Some interpreters do not start without the linker's folders. */
function linkerSettings(): Record<string, string> {
  const folders = process.env.LD_LIBRARY_PATH;
  return folders === undefined ? {} : { LD_LIBRARY_PATH: folders };
}

export const notInstalled =
  'Answers that need numpy run under bubblewrap, which is not installed here: install the package bubblewrap (sudo apt-get install bubblewrap on Debian and Ubuntu).';

/** @param why the last message of bubblewrap, or of the interpreter in it */
export function refusedBy(why: string): string {
  return `Answers that need numpy run under bubblewrap, which cannot build its sandbox here (${why}): use bubblewrap 0.8 or newer, and let it make user namespaces (sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces above 0; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in a container its runtime has to allow them).`;
}
