// This function runs in the page. It holds what would end after a time, so that a late test still sees it.

/**
 * Holds the timers that a page begins.
 * @returns a function that ends this, and ends the timers that the page has not stopped
 */
export function holdTimers(): () => void {
  const real = { setTimeout: window.setTimeout, clearTimeout: window.clearTimeout };
  const held = new Map<number, () => void>();
  let begun = 0;
  Object.assign(window, {
    setTimeout: (act: () => void): number => {
      // The browser's own timers have numbers above zero.
      begun -= 1;
      held.set(begun, act);
      return begun;
    },
    clearTimeout: (timer: number): void => {
      if (!held.delete(timer)) real.clearTimeout.call(window, timer);
    },
  });
  return () => {
    Object.assign(window, real);
    for (const act of held.values()) act();
  };
}
