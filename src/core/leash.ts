import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface LeashOptions {
  /** The working directory; this process's when left out. */
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

export interface Leashed {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** To be called when it has ended. */
  readonly forget: () => void;
}

/**
 * The shell leaves a watcher behind and becomes the command. The watcher's input closes when this process dies or the
 * command ends; then it ends what is left of the group, itself last. The command finds its own input empty.
 */
const LEASH = 'exec 3<&0; { read -r _ <&3; kill -s KILL 0; } >/dev/null 2>&1 & exec "$@" </dev/null 3<&-';

/**
 * Starts a command that ends with this process, also when that is killed, and with the signal; and so does everything that
 * it starts. On Windows the system ends it with this process.
 *
 * A command that is not there is reported by the shell, as status 127 with a sentence on stderr.
 */
export function startLeashed(command: readonly string[], { cwd, env, signal }: LeashOptions): Leashed {
  const hasShell = process.platform !== 'win32';
  const [file, ...args] = hasShell ? ['/bin/sh', '-c', LEASH, 'sh', ...command] : command;
  const child = spawn(file!, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: hasShell,
    windowsHide: true,
  });
  const kill = (): void => {
    if (hasShell && child.pid !== undefined) killGroup(child.pid);
    else child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', kill);
  process.once('exit', kill);
  return {
    child,
    forget: () => {
      signal?.removeEventListener('abort', kill);
      process.off('exit', kill);
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
