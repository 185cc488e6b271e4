import { PlainElement, UNDRAWN } from './element';

/**
 * The element that is a whole page. It hears the extension host, which may be of another version than the page: what does
 * not fit is passed over or drawn as a sentence, and everything is asked for again. A page takes a message first, and
 * then compares it with the one before: else one that does not fit would be in the way of each that follows.
 */
export abstract class PageElement<Message extends { readonly type: string }> extends PlainElement {
  /** Every kind of message that the page takes. */
  protected abstract readonly kinds: Readonly<Record<Message['type'], true>>;
  /** The kind of the latest message. */
  private latest = '';
  private readonly askedAfter = new Set<string>();

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('message', ({ data }: MessageEvent<unknown>) => this.hear(data));
    this.addEventListener(UNDRAWN, ({ target }) => {
      // It says so once until it has been drawn again.
      if (target === this) this.askedAfter.delete(this.latest);
      this.askAgain();
    });
    this.ask();
  }

  /** Asks the host for everything that is shown. */
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

  /** What was shown before stays. */
  private passOver(error: unknown): void {
    reportError(error);
    void this.updateComplete.then(() => {
      if (this.childElementCount === 0) this.sayUndrawn();
    });
  }

  /** Once after each kind of message: a host that says the same again is not asked on and on. */
  private askAgain(): void {
    if (this.askedAfter.has(this.latest)) return;
    this.askedAfter.add(this.latest);
    this.ask();
  }
}
