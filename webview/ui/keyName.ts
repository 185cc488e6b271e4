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

/** ⌥A on a Mac, Alt+A elsewhere. @param key as in `aria-keyshortcuts` */
export function keyName(key: string): string {
  const mac = /mac/i.test(navigator.userAgent);
  const parts = key.split('+');
  const last = parts.pop() ?? '';
  const held = parts.map((part) => (mac ? modifiers[part]?.mac : modifiers[part]?.other) ?? `${part}+`);
  return [...held, names[last] ?? last].join('');
}

export function keyHint(title: string | undefined, key: string | undefined): string | undefined {
  const parts = [title, key && `(${keyName(key)})`].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' ');
}
