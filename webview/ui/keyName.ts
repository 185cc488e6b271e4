const names: Readonly<Record<string, string>> = {
  Enter: '⏎',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Plus: '+',
};

const modifiers: Readonly<Record<string, { readonly mac: string; readonly other: string }>> = {
  Alt: { mac: '⌥', other: 'Alt+' },
  Shift: { mac: '⇧', other: 'Shift+' },
  Control: { mac: '⌃', other: 'Ctrl+' },
};

/** The keyboard's own words: ⌥A on a Mac, Alt+A elsewhere. @param key in the words of `aria-keyshortcuts` */
export function keyName(key: string): string {
  const mac = /mac/i.test(navigator.userAgent);
  const parts = key.split('+');
  const last = parts.pop() ?? '';
  const held = parts.map((part) => (mac ? modifiers[part]?.mac : modifiers[part]?.other) ?? `${part}+`);
  return [...held, names[last] ?? last].join('');
}

/** What the pointer reads: what a control does, and the key that does the same. Undefined where there is neither. */
export function keyHint(title: string | undefined, key: string | undefined): string | undefined {
  const parts = [title, key && `(${keyName(key)})`].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' ');
}
