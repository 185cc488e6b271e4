/** A host that lives answers much sooner, in milliseconds; even one that is busy with the log of years. */
const SILENT_AFTER_MS = 10_000;

/** Notices that the extension host is gone: the view still looks alive, but nothing that is done in it arrives. */
export class Answering {
  isSilent = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param changed called when the host falls silent, and when it is heard again */
  constructor(private readonly changed: () => void) {}

  /** Something was sent, which the host acknowledges. */
  asked(): void {
    this.timer ??= setTimeout(() => this.is(true), SILENT_AFTER_MS);
  }

  /** The host has said something. */
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
