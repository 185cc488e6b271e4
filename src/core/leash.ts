import { spawn } from 'node:child_process';

interface LeashOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  /** Kills the command and everything it started. */
  readonly signal?: AbortSignal;
}

/**
 * The shell starts a watcher in the background and then becomes the command. The watcher's input closes when this
 * process dies or the command ends; then the watcher kills the rest of the process group, and itself with it. The
 * command's own stdin is empty.
 */
const LEASH = 'exec 3<&0; { read -r _ <&3; kill -s KILL 0; } >/dev/null 2>&1 & exec "$@" </dev/null 3<&-';

/**
 * The command and everything that it starts end with this process, even if this process is killed, and when the signal
 * is aborted. On Windows the system ends it with this process.
 * If the command does not exist, the shell reports status 127 with a sentence on stderr.
 * @returns `forget` removes the listeners; call it when the command has ended
 */
export function startLeashed(command: readonly string[], { cwd, env, signal }: LeashOptions) {
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
    // The group has already ended.
  }
}
