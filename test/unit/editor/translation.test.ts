import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript-api';
import { expect, it, vi } from 'vitest';
import { figures } from '../../../media/events.schema.json';
import { clusterFields, fields } from '../../../src/core/training/fields';
import { METHODS } from '../../../src/core/training/methods';
import { FLAGS, LISTS, GROUPS, SETTINGS } from '../../../src/editor/runs/form/view';
import { keysOfManifest, readJson } from './nls';

vi.mock('vscode', () => import('./vscode'));

const isObject = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null;

it('has a sentence for every key of the manifest, and none that it does not use', async () => {
  const sentences = await readJson('package.nls.json');
  expect(isObject(sentences) && Object.keys(sentences).sort()).toEqual([...(await keysOfManifest())].sort());
});

/** Returns the sentences passed to `vscode.l10n.t`, by that name or as `t`, and to `t` of the reports. */
function translated(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(vscode\.l10n\.)?t$/.test(node.expression.getText())) {
      const [sentence] = node.arguments;
      // Only literals can be collected for translators.
      if (sentence === undefined || !ts.isStringLiteralLike(sentence)) {
        throw new Error(`${file}: ${node.getText()} translates no literal.`);
      }
      found.push(sentence.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

it('hands translators every sentence of the code, and none that it no longer says', async () => {
  const texts = await Promise.all(
    ['src/editor', 'src/views', 'src/core/evaluation/report', 'webview'].map(translatedIn),
  );
  for (const found of texts) expect(found.length).toBeGreaterThan(20);
  const sentences = [...new Set([...texts.flat(), ...sentencesOfSchemas()])].sort();
  const bundle = Object.fromEntries(sentences.map((sentence) => [sentence, sentence]));
  // `vitest -u` rewrites the file.
  await expect(`${JSON.stringify(bundle, null, 2)}\n`).toMatchFileSnapshot(
    path.resolve('l10n/bundle.l10n.json'),
  );
});

/** Returns what the form of a new run and the charts take from the trainer's schemas. */
const sentencesOfSchemas = (): string[] => [
  ...Object.values(LISTS).map(({ title }) => title),
  ...Object.values(GROUPS),
  ...[
    ...Object.values(FLAGS),
    ...Object.values(clusterFields),
    ...Object.values(METHODS),
    ...SETTINGS.map((name) => fields[name]),
    ...Object.values(figures),
  ].flatMap(({ title, description }) => [title, description]),
];

async function translatedIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = files.map(async (name) => translated(name, await readFile(path.join(folder, name), 'utf8')));
  return (await Promise.all(texts)).flat();
}
