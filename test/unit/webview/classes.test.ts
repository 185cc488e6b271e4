import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Classes that the templates of a source name; a part that is filled in is left out, with what it is joined to. */
function classesOf(source: string): string[] {
  const lists = [...source.matchAll(/\bclass="([^"]*)"/g)].map(([, list]) => list!);
  return lists.flatMap((list) => list.replaceAll(/\S*\$\{[^}]*\}\S*/g, ' ').split(/\s+/)).filter(Boolean);
}

it('draws nothing with a class that no style knows', () => {
  const styles = globSync('webview/**/*.css').map((file) => readFileSync(file, 'utf8'));
  const known = new Set(styles.join('\n').match(/(?<=\.)[a-z][\w-]*/gi));
  const named = globSync('webview/**/*.ts').flatMap((file) =>
    classesOf(readFileSync(file, 'utf8')).map((name) => ({ file, name })),
  );
  expect(named.length).toBeGreaterThan(100);
  const unknown = named.filter(({ name }) => !known.has(name) && !name.startsWith('codicon'));
  expect(unknown.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
