import { html, LitElement, render, type PropertyValues } from 'lit';
import { state } from 'lit/decorators.js';
import { editorApi } from '../editorApi';
import { t } from '../language';

/** An element without a shadow root, so that one style sheet serves the page and labels reach across elements. */
export class PlainElement extends LitElement {
  private drawings = 0;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Shows a sentence in place of data that cannot be drawn, until the next successful update. */
  protected override performUpdate(): void {
    const before = this.drawings;
    try {
      super.performUpdate();
    } catch (error) {
      reportError(error);
      // The drawing succeeded; something after it failed, such as moving the focus.
      if (this.drawings > before) return;
      this.sayUndrawn();
    }
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    this.drawings += 1;
  }

  protected sayUndrawn(): void {
    const sentence = t('This view received data that it cannot show. Close this editor and open it again.');
    render(html`<p class="undrawn" role="alert">${sentence}</p>`, this.renderRoot, this.renderOptions);
  }
}

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

  /** Called once; the host answers with everything. */
  protected ask(): void {
    editorApi<{ readonly type: 'ready' }, unknown>().postMessage({ type: 'ready' });
  }

  /** Stores a message before it is compared with the one before, so that one that fails breaks no later one. */
  protected abstract receive(message: Message): void;
}

/** A page that draws its last message, and nothing of the ones before. */
export abstract class ViewElement<View> extends PageElement<View> {
  @state() protected shown: View | undefined;

  protected override receive(view: View): void {
    this.shown = view;
  }
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
