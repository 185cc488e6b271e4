import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import {
  activationEvents,
  contributes,
  restrictedConfigurations,
} from '../../../src/editor/manifest/contributes';
import { idOf, panelTypes } from '../../../src/editor/contributions';
import { places } from '../../../src/editor/manifest/places';
import { helpCommand, helpPages } from '../../../webview/ui/protocol';
import { readJson, readManifest } from './nls';

/** The parts of the manifest that are not written by hand, among those that are. */
interface ByHand {
  readonly capabilities: { readonly untrustedWorkspaces: object };
}

/** The identifiers of all commands. */
const ids = Object.keys(places).map((name) => `tandem.${name}`);

const setting = z.object({
  type: z.string(),
  default: z.unknown(),
  order: z.number(),
  markdownDescription: z.string(),
  enum: z.array(z.string()).optional(),
  markdownEnumDescriptions: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  patternErrorMessage: z.string().optional(),
  items: z
    .union([z.object({ minLength: z.number() }), z.object({ required: z.array(z.string()) })])
    .optional(),
});
/** What the editor reads: the manifest with its English sentences. */
const { contributes: read } = z
  .object({
    contributes: z.object({
      viewsWelcome: z.array(z.object({ contents: z.string() })),
      jsonValidation: z.array(z.object({ fileMatch: z.array(z.string()), url: z.string() })),
      walkthroughs: z.array(z.object({ steps: z.array(z.object({ description: z.string() })) })),
      configuration: z.array(z.object({ properties: z.record(z.string(), setting) })),
    }),
  })
  .parse(await readManifest());

const properties = Object.assign({}, ...read.configuration.map((part) => part.properties)) as Record<
  string,
  z.infer<typeof setting>
>;

it('declares what the tables of the code say', async () => {
  const byHand = (await readJson('package.json')) as ByHand;
  const { capabilities } = byHand;
  const untrustedWorkspaces = { ...capabilities.untrustedWorkspaces, restrictedConfigurations };
  const written = {
    ...byHand,
    activationEvents,
    capabilities: { ...capabilities, untrustedWorkspaces },
    contributes,
  };
  // `vitest -u` rewrites the file.
  await expect(`${JSON.stringify(written, null, 2)}\n`).toMatchFileSnapshot(path.resolve('package.json'));
});

it('applies the schema of a configuration to the files that the documentation calls so, and packages it', async () => {
  const [run, ...others] = read.jsonValidation;
  expect(others).toEqual([]);
  const file = path.posix.normalize(run!.url);
  expect(await readFile(path.resolve(file), 'utf8')).toContain('"title": "Tandem run"');
  expect(await readFile(path.resolve('.vscodeignore'), 'utf8')).toContain(`!${file}\n`);
  expect(run!.fileMatch.some((glob) => path.posix.matchesGlob('run.json', glob))).toBe(true);
});

it('leads from its help only to pages that are packaged, and from each view and page to one', async () => {
  const listed = await readFile(path.resolve('.vscodeignore'), 'utf8');
  expect(listed).toContain(`!docs/{${[...helpPages].sort().join(',')}}.md\n`);
  for (const page of helpPages) {
    expect(await readFile(path.resolve('docs', `${page}.md`), 'utf8')).toMatch(/^# \p{Lu}/u);
  }
  expect(helpCommand).toBe(idOf('openHelp'));
  for (const page of Object.keys(panelTypes)) {
    const files = (await readdir(path.resolve('webview', page))).filter((name) => name.endsWith('.ts'));
    const sources = await Promise.all(
      files.map((name) => readFile(path.resolve('webview', page, name), 'utf8')),
    );
    expect(sources.join('\n').match(/\bhelp\(\s*(?:t\(|helpWords)/g), page).toHaveLength(1);
  }
});

it('takes keys that work everywhere only as pairs, whose second key no page takes for its own', () => {
  const everywhere = contributes.keybindings.filter(
    ({ when }) => !/focusedView|activeWebviewPanelId/.test(when),
  );
  expect(everywhere.length).toBeGreaterThan(3);
  for (const { key, mac } of everywhere) {
    // A session acts on Alt and a letter, but on nothing with Ctrl or with the Mac's command key.
    expect(key).toMatch(/^ctrl\+k ctrl\+alt\+[a-z]$/);
    expect(mac).toBe(key.replaceAll('ctrl', 'cmd'));
  }
  const bound = contributes.keybindings.map(({ key, when }) => `${key}: ${when}`);
  expect(new Set(bound).size).toBe(bound.length);
});

it('says of every setting which values it takes', () => {
  for (const [name, { type, ...rules }] of Object.entries(properties)) {
    if (type === 'number' || type === 'integer') {
      expect(rules.minimum ?? rules.exclusiveMinimum, name).toBeDefined();
      expect(rules.maximum, name).toBeDefined();
    }
    if (type === 'array') expect(rules.items, name).toBeDefined();
    expect(rules.markdownEnumDescriptions?.length, name).toBe(rules.enum?.length);
    expect(rules.patternErrorMessage === undefined, name).toBe(rules.pattern === undefined);
    if (rules.pattern !== undefined) expect(rules.default, name).toMatch(new RegExp(rules.pattern));
  }
});

it('takes the names of models that Tandem plays, and no others', () => {
  const isModel = (text: string) => new RegExp(properties['tandem.agent']!.pattern!).test(text);
  for (const name of ['', 'starter', 'local:models/mine', 'openai:gpt-4o@https://x/v1', 'script:a.json']) {
    expect(isModel(name), name).toBe(true);
  }
  for (const name of ['gpt-4o', 'openai:', 'my model']) expect(isModel(name), name).toBe(false);
});

it('keeps the palette short, whatever is there', () => {
  const hidden = contributes.menus.commandPalette.filter(({ when }) => when === 'false');
  expect(contributes.commands.length - hidden.length).toBeLessThanOrEqual(45);
});

it('links only to known commands from welcome texts and descriptions', () => {
  const texts = [
    ...read.viewsWelcome.map(({ contents }) => contents),
    ...read.walkthroughs.flatMap(({ steps }) => steps.map(({ description }) => description)),
    ...Object.values(properties).map(({ markdownDescription }) => markdownDescription),
  ];
  for (const [, command] of texts.join('\n').matchAll(/\(command:(tandem\.\w+)\)/g)) {
    expect(ids).toContain(command);
  }
});
