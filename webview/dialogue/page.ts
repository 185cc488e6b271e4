import { PlainElement } from './element';

/** Base class of the element that is a whole page: it asks the host, and receives what is to be shown. */
export abstract class PageElement<Message> extends PlainElement {
  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      try {
        this.receive(data);
      } catch (error) {
        reportError(error);
        void this.updateComplete.then(() => {
          if (this.childElementCount === 0) this.sayUndrawn();
        });
      }
    });
    this.ask();
  }

  protected abstract ask(): void;

  /** Stores a message before it is compared with the one before, so that one that fails breaks no later one. */
  protected abstract receive(message: Message): void;
}

type Pressed =
  { readonly type: 'open-link'; readonly address: string } | { readonly type: 'copy'; readonly text: string };

/** Rendered Markdown has no listeners of its own. */
export function followPresses(page: HTMLElement, send: (message: Pressed) => void): void {
  const follow = (event: Event): void => {
    const target = event.target as Element;
    const address = target.closest<HTMLElement>('[data-address]')?.dataset.address;
    if (address !== undefined) send({ type: 'open-link', address });
    const block = target.closest('button.copy')?.closest('.code-block');
    if (block != null) send({ type: 'copy', text: block.querySelector('code')?.textContent ?? '' });
  };
  page.addEventListener('click', follow);
  page.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.target as Element).matches('[data-address]')) follow(event);
  });
}
