/** SIGKILL, because `process.exit` waits for threads, and would never return if one of them runs forever. */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** However the parent ends: the kernel closes the channel between them. */
export function endWithParent(): void {
  process.on('disconnect', endAtOnce);
}

/**
 * A parent that is gone is no error here, because `endWithParent` handles it.
 * @param told called when the message is sent, or when the parent is gone
 */
export function tellParent(message: object, told: () => void = () => undefined): void {
  process.send!(message, told);
}
