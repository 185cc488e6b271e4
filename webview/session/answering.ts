/** Milliseconds without an answer before the host counts as gone; even one that is busy with a huge log is faster. */
const SILENT_AFTER_MS = 10_000;

/** Detects that the extension host is gone: the page still looks alive, but its messages no longer arrive. */
export class Answering {
  isSilent = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed called when the host falls silent, and when it is heard again */
  constructor(private readonly changed: () => void) {}

  /** Call this after each message to the host, which acknowledges it. */
  asked(): void {
    this.timer ??= setTimeout(() => this.is(true), SILENT_AFTER_MS);
  }

  /** Call this after each message from the host. */
  heard(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.is(false);
  }

  private is(silent: boolean): void {
    if (this.isSilent === silent) return;
    this.isSilent = silent;
    this.changed();
  }
}
