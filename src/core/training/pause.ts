import { setTimeout as sleep } from 'node:timers/promises';

/** Waits. @throws the signal's own reason when it is aborted, where Node's timer throws one that says nothing */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
