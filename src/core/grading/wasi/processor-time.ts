import { readFileSync } from 'node:fs';

/** Processor time of this thread so far, milliseconds. */
export const usedProcessorTime: () => number = bestClock();

/**
 * Node can tell from 22.15 and 23.9 on. Before that Linux tells: the first number of the file is nanoseconds on the
 * processor, and reading a file synchronously happens on the thread itself. Elsewhere wall time has to do.
 */
function bestClock(): () => number {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  if (threadCpuUsage !== undefined) {
    return () => {
      const { user, system } = threadCpuUsage();
      return (user + system) / 1000;
    };
  }
  return scheduledMilliseconds() === undefined ? () => performance.now() : () => scheduledMilliseconds() ?? 0;
}

/** Undefined where the system does not say: not Linux, or a kernel without scheduling statistics. */
export function scheduledMilliseconds(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const nanoseconds = Number.parseInt(readFileSync('/proc/thread-self/schedstat', 'utf8'), 10);
    return nanoseconds > 0 ? nanoseconds / 1_000_000 : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES') return undefined;
    throw error;
  }
}
