import { PlainElement, UNDRAWN } from './element';

/**
 * Base class of the element that is a whole page. The extension host may be of another version than the page: a
 * message that does not fit is skipped or drawn as a sentence, and the page asks for everything again. `receive` must
 * store a message before it compares it with the one before, or else one that does not fit would break all after it.
 */
export abstract class PageElement<Message extends { readonly type: string }> extends PlainElement {
  protected abstract readonly kinds: Readonly<Record<Message['type'], true>>;
  private latest = '';
  private readonly askedAfter = new Set<string>();

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('message', ({ data }: MessageEvent<unknown>) => this.hear(data));
    this.addEventListener(UNDRAWN, ({ target }) => {
      // The page itself dispatches this once until it has been drawn again, so it may ask again for the same kind.
      if (target === this) this.askedAfter.delete(this.latest);
      this.askAgain();
    });
    this.ask();
  }

  protected abstract ask(): void;

  protected abstract receive(message: Message): void;

  private hear(said: unknown): void {
    if (!this.isMessage(said)) {
      this.passOver(new Error('page/unknown-message'));
      return;
    }
    this.latest = said.type;
    try {
      this.receive(said);
    } catch (error) {
      this.passOver(error);
      this.askAgain();
    }
  }

  private isMessage(said: unknown): said is Message {
    const type = typeof said === 'object' && said !== null && 'type' in said ? said.type : undefined;
    return typeof type === 'string' && Object.hasOwn(this.kinds, type);
  }

  /** Reports the error and leaves the page as it is; only an empty page shows a sentence. */
  private passOver(error: unknown): void {
    reportError(error);
    void this.updateComplete.then(() => {
      if (this.childElementCount === 0) this.sayUndrawn();
    });
  }

  /** Asks once after each kind of message, so that a host that repeats itself is not asked forever. */
  private askAgain(): void {
    if (this.askedAfter.has(this.latest)) return;
    this.askedAfter.add(this.latest);
    this.ask();
  }
}
