/** Returns the source of a pattern that matches a text. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);

/**
 * Stops what the mouse does anywhere but on a row of a list that matches a pattern; runs in the page.
 * @returns a function that ends this, and returns whether such a row was pressed
 */
export function guardRow({
  source,
  flags,
}: {
  readonly source: string;
  readonly flags: string;
}): () => boolean {
  const pattern = new RegExp(source, flags);
  const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
  let isPressed = false;
  const judge = (event: Event): void => {
    // The press of a row presses its box, too.
    if (isPressed) return;
    const text = (event.target as Element).closest('.quick-input-list-row')?.textContent;
    if (typeof text === 'string' && pattern.test(text.replaceAll(/\s+/g, ' '))) {
      isPressed = event.type === 'click';
      return;
    }
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const kind of kinds) window.addEventListener(kind, judge, { capture: true });
  return () => {
    for (const kind of kinds) window.removeEventListener(kind, judge, { capture: true });
    return isPressed;
  };
}
