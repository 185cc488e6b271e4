import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { tools } from '../../../src/core/tools/tools';
import {
  activationEvents,
  contributes,
  restrictedConfigurations,
} from '../../../src/editor/manifest/contributes';
import { places } from '../../../src/editor/manifest/places';
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
      commands: z.array(z.object({ title: z.string() })),
      viewsWelcome: z.array(z.object({ contents: z.string() })),
      languageModelTools: z.array(
        z.object({ name: z.string(), displayName: z.string(), userDescription: z.string() }),
      ),
      jsonValidation: z.array(z.object({ fileMatch: z.array(z.string()), url: z.string() })),
      walkthroughs: z.array(
        z.object({
          steps: z.array(z.object({ description: z.string(), media: z.object({ markdown: z.string() }) })),
        }),
      ),
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

it('calls the tools for agents in English what their table calls them', () => {
  const called = read.languageModelTools.map(({ name, ...words }) => [name, words]);
  expect(Object.fromEntries(called)).toEqual(
    Object.fromEntries(
      Object.entries(tools).map(([name, { title, about }]) => [
        name,
        { displayName: title, userDescription: about },
      ]),
    ),
  );
});

it('applies the schema of a configuration to the files that the documentation calls so, and packages it', async () => {
  const [run, ...others] = read.jsonValidation;
  expect(others).toEqual([]);
  const file = path.posix.normalize(run!.url);
  expect(await readFile(path.resolve(file), 'utf8')).toContain('"title": "Tandem run"');
  expect(await readFile(path.resolve('.vscodeignore'), 'utf8')).toContain(`!${file}\n`);
  const documentation = await readFile(path.resolve('docs/training.md'), 'utf8');
  const named = [...documentation.matchAll(/tandem train ([\w.]+\.json)/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(3);
  const fits = (name: string): boolean => run!.fileMatch.some((glob) => path.posix.matchesGlob(name, glob));
  expect(named.filter((name) => !fits(name))).toEqual([]);
});

it('lists without a condition only commands that work whatever is open', () => {
  const always = Object.entries(places).flatMap(([name, { palette }]) =>
    palette === 'always' ? [name] : [],
  );
  expect(always).toEqual([
    'refresh',
    'chooseAgent',
    'chooseSimulator',
    'chooseCandidates',
    'setApiKey',
    'connectModel',
    'addModelFolder',
    'changeConsent',
  ]);
});

it('names its commands in one style: a verb first, title case, no article', () => {
  for (const { title } of read.commands) {
    expect(title).toMatch(/^\p{Lu}[\p{L}\p{Lu}]+( (as|on|from|with|in|and|of|to|API|\p{Lu}[\p{L}’]*))*…?$/u);
    expect(title).not.toMatch(/\b(a|an|the)\b/i);
  }
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

it('walks through at most six steps, whose pictures are there', async () => {
  const [walkthrough, ...others] = read.walkthroughs;
  expect(others).toEqual([]);
  expect(walkthrough!.steps.length).toBeLessThanOrEqual(6);
  for (const { media } of walkthrough!.steps) {
    expect(await readFile(path.resolve(media.markdown), 'utf8')).toMatch(/^## /);
  }
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
