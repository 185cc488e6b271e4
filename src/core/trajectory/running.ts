import { isErrorCode } from './files';

/** Whether a process of this number is there, whoever owns it; one that ended and that its parent has not asked for counts. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EPERM')) return true; // it runs, under another user
    if (isErrorCode(error, 'ESRCH')) return false;
    throw error;
  }
}
