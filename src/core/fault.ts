/**
 * An error whose message is meant for the person who uses Tandem: one sentence (or two) that says what is wrong,
 * where, and what to do. Anything else that is thrown is a bug and keeps its stack.
 */
export class Fault extends Error {
  override readonly name = 'Fault';

  /** As the log keeps it: in English, also where the message is in the language of the person. */
  readonly english: string;

  /** @param code stable and namespaced by folder, e.g. `task/not-json`, so that callers can tell faults apart */
  constructor(
    readonly code: string,
    message: string,
    options?: { cause?: unknown; english?: string },
  ) {
    super(message, options);
    this.english = options?.english ?? message;
  }
}

/** The sentence to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
