import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Placeholder of a sentence in the manifest, `%name%`. */
const KEY = /^%(.+)%$/;

export async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(path.resolve(file), 'utf8'));
}

/** Reads the manifest with the English sentences of `package.nls.json`. */
export async function readManifest(): Promise<unknown> {
  const sentences = (await readJson('package.nls.json')) as Record<string, string>;
  return JSON.parse(await readFile(path.resolve('package.json'), 'utf8'), (_, value: unknown) => {
    const key = typeof value === 'string' ? KEY.exec(value)?.[1] : undefined;
    return key === undefined ? value : sentences[key];
  });
}

/** Returns the keys of the sentences that the manifest uses. */
export async function keysOfManifest(): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  JSON.parse(await readFile(path.resolve('package.json'), 'utf8'), (_, value: unknown) => {
    const key = typeof value === 'string' ? KEY.exec(value)?.[1] : undefined;
    if (key !== undefined) keys.add(key);
    return value;
  });
  return keys;
}
