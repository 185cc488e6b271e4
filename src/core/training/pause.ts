import { setTimeout as sleep } from 'node:timers/promises';

/** @throws the signal's own reason when it is aborted; Node's timer throws an error without it */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
