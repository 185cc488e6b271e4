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
