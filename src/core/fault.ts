import type { FaultCode } from './faults';

/**
 * An error whose message is meant for the user: one sentence (or two) that says what is wrong, where, and what to do.
 * Anything else that is thrown is a bug and keeps its stack.
 */
export class Fault extends Error {
  override readonly name = 'Fault';

  /** The message in English, for the log, even if `message` is translated. */
  readonly english: string;

  constructor(
    readonly code: FaultCode,
    message: string,
    options?: { cause?: unknown; english?: string },
  ) {
    super(message, options);
    this.english = options?.english ?? message;
  }
}

/** Returns the sentence to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
