import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import {
  commands,
  comparisonViewType,
  contextKeys,
  contextValues,
  replayViewType,
  newRunViewType,
  runViewType,
  sessionViewType,
  settings,
  statisticsViewType,
  teachingViewType,
  views,
} from '../../../src/editor/contributions';
import { readManifest } from './nls';

const menuItem = z.object({ command: z.string(), when: z.string() });
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
const manifest = z
  .object({
    activationEvents: z.array(z.string()),
    capabilities: z.object({
      untrustedWorkspaces: z.object({ restrictedConfigurations: z.array(z.string()) }),
    }),
    contributes: z.object({
      commands: z.array(z.object({ command: z.string(), title: z.string(), category: z.string() })),
      views: z.object({ tandem: z.array(z.object({ id: z.string() })) }),
      viewsWelcome: z.array(
        z.object({ view: z.string(), contents: z.string(), when: z.string().optional() }),
      ),
      menus: z.record(z.string(), z.array(menuItem)),
      keybindings: z.array(menuItem.extend({ key: z.string() })),
      walkthroughs: z.array(
        z.object({
          steps: z.array(
            z.object({
              description: z.string(),
              media: z.object({ markdown: z.string() }),
              completionEvents: z.array(z.string()),
            }),
          ),
        }),
      ),
      configuration: z.array(
        z.object({
          properties: z.record(z.string(), setting),
        }),
      ),
    }),
  })
  .parse(await readManifest());

const { contributes } = manifest;
const properties = Object.assign({}, ...contributes.configuration.map((part) => part.properties)) as Record<
  string,
  z.infer<typeof setting>
>;

it('declares exactly the commands that the code registers', () => {
  const declared = contributes.commands.map(({ command }) => command);
  expect(declared.sort()).toEqual(Object.values(commands).sort());
});

it('declares exactly the settings that the code reads', () => {
  expect(Object.keys(properties).sort()).toEqual(settings.map((name) => `tandem.${name}`).sort());
});

it('declares exactly the views that the code fills', () => {
  const declared = contributes.views.tandem.map(({ id }) => id);
  expect(declared.sort()).toEqual(Object.values(views).sort());
  for (const { view } of contributes.viewsWelcome) expect(declared).toContain(view);
});

/** What a condition compares the key with: `key == name`, or `key =~ /^tandem\.(one|other)$/`. */
function namesIn(when: string, key: string): string[] {
  const single = [...when.matchAll(new RegExp(`\\b${key} == (\\S+)`, 'g'))].map(([, name]) => name!);
  const several = [...when.matchAll(new RegExp(`\\b${key} =~ /\\^tandem\\\\.\\(([^)]+)\\)\\$/`, 'g'))];
  return [...single, ...several.flatMap(([, names]) => names!.split('|').map((name) => `tandem.${name}`))];
}

it('puts only known commands into menus, under conditions on known views and items', () => {
  for (const { command, when } of Object.values(contributes.menus).flat()) {
    expect(Object.values(commands)).toContain(command);
    for (const item of namesIn(when, 'viewItem')) expect(Object.values(contextValues)).toContain(item);
    for (const view of namesIn(when, 'view')) expect(Object.values(views)).toContain(view);
  }
});

it('asks only for known context keys and settings', () => {
  const asked = [...contributes.viewsWelcome, ...Object.values(contributes.menus).flat()];
  const conditions = asked.map(({ when = '' }) =>
    when.replaceAll(/(view|viewItem|activeWebviewPanelId) (==|=~) \S+/g, ''),
  );
  const known = [...Object.values(contextKeys), ...settings.map((name) => `config.tandem.${name}`)];
  for (const [key] of conditions.join(' ').matchAll(/(?:config\.)?tandem\.[\w.]+/g))
    expect(known).toContain(key);
});

/** Commands that always can do something, whatever is open. */
const ALWAYS = [
  'refresh',
  'chooseAgent',
  'chooseSimulator',
  'chooseCandidates',
  'setApiKey',
  'connectModel',
  'addModelFolder',
  'changeConsent',
].map((name) => `tandem.${name}`);

it('shows no command in the palette that cannot work', () => {
  const limited = contributes.menus.commandPalette!.map(({ command }) => command);
  const all = contributes.commands.map(({ command }) => command);
  expect([...limited, ...ALWAYS].sort()).toEqual(all.sort());
});

it('names its commands in one style: a verb first, title case, no article', () => {
  for (const { title, category } of contributes.commands) {
    expect(category).toBe('Tandem');
    expect(title).toMatch(/^\p{Lu}[\p{L}\p{Lu}]+( (as|on|from|with|in|and|of|to|API|\p{Lu}[\p{L}’]*))*…?$/u);
    expect(title).not.toMatch(/\b(a|an|the)\b/i);
  }
});

it('takes a key only where its own view has the focus', () => {
  for (const { when } of contributes.keybindings) expect(when).toMatch(/'tandem\.\w+'/);
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

it('walks through at most six steps, whose pictures and commands are there', async () => {
  const [walkthrough, ...others] = contributes.walkthroughs;
  expect(others).toEqual([]);
  expect(walkthrough!.steps.length).toBeLessThanOrEqual(6);
  for (const { media, completionEvents } of walkthrough!.steps) {
    expect(await readFile(path.resolve(media.markdown), 'utf8')).toMatch(/^## /);
    expect(completionEvents).not.toEqual([]);
    for (const event of completionEvents) {
      const command = /^onCommand:(.+)$/.exec(event)?.[1];
      if (command !== undefined) expect(Object.values(commands)).toContain(command);
    }
  }
});

it('links only to known commands from welcome texts and descriptions', () => {
  const texts = [
    ...contributes.viewsWelcome.map(({ contents }) => contents),
    ...contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ description }) => description)),
    ...Object.values(properties).map(({ markdownDescription }) => markdownDescription),
  ];
  for (const [, command] of texts.join('\n').matchAll(/\(command:(tandem\.\w+)\)/g)) {
    expect(Object.values(commands)).toContain(command);
  }
});

it('wakes for a panel that is restored, for runs that may wait for their turn and lessons that go on, and restricts only settings that exist', () => {
  const panels = [
    ...[sessionViewType, replayViewType, statisticsViewType],
    ...[runViewType, newRunViewType, teachingViewType, comparisonViewType],
  ];
  expect(manifest.activationEvents).toEqual([
    ...panels.map((type) => `onWebviewPanel:${type}`),
    'workspaceContains:.tandem/runs',
    'workspaceContains:.tandem/teaching',
  ]);
  for (const setting of manifest.capabilities.untrustedWorkspaces.restrictedConfigurations) {
    expect(Object.keys(properties)).toContain(setting);
  }
});
