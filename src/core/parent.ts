/** What a process that was forked has to do with the one that forked it. */

/** SIGKILL, since `process.exit` waits for threads, and for one that never rests it would wait for ever. */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Ends this process with its parent, however that ends: the kernel closes the channel between them. */
export function endWithParent(): void {
  process.on('disconnect', endAtOnce);
}

/**
 * Tells the parent something. A parent that is gone hears nothing and is no error here: `endWithParent` sees to it.
 * @param told called when the message is on its way, or when nobody is left to hear it
 */
export function tellParent(message: object, told: () => void = () => undefined): void {
  process.send!(message, told);
}
