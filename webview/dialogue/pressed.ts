/** Handles presses on links and copy buttons in rendered Markdown, which has no listeners of its own. */
export function pressedInside(
  event: Event,
  { open, copy }: { readonly open: (address: string) => void; readonly copy: (text: string) => void },
): void {
  const target = event.target as Element;
  const address = target.closest<HTMLElement>('[data-address]')?.dataset.address;
  if (address !== undefined) open(address);
  const block = target.closest('button.copy')?.closest('.code-block');
  if (block != null) copy(block.querySelector('code')?.textContent ?? '');
}
