import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Returns the names of the exported classes, interfaces, types and enumerations of a file. */
const typesOf = (text: string): string[] =>
  [...text.matchAll(/^export (?:abstract )?(?:class|interface|type|enum) (\w+)/gm)].map(([, name]) => name!);

it('gives no two types of the source one name', () => {
  const files = globSync('src/**/*.ts').map((file) => ({ file, types: typesOf(readFileSync(file, 'utf8')) }));
  const places = Map.groupBy(
    files.flatMap(({ file, types }) => types.map((name) => ({ name, file }))),
    ({ name }) => name,
  );
  const shared = [...places].filter(([, found]) => found.length > 1);
  expect(places.size).toBeGreaterThan(500);
  expect(shared.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
});
