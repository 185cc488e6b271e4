import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  commands,
  contextKeys,
  contextValues,
  sessionViewType,
  settings,
  views,
} from '../../../src/editor/contributions';

const menuItem = z.object({ command: z.string(), when: z.string() });
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
      configuration: z.array(
        z.object({
          properties: z.record(
            z.string(),
            z.object({ default: z.unknown(), order: z.number(), markdownDescription: z.string() }),
          ),
        }),
      ),
    }),
  })
  .parse(JSON.parse(await readFile(path.resolve('package.json'), 'utf8')));

const { contributes } = manifest;
const properties = Object.assign({}, ...contributes.configuration.map((part) => part.properties)) as Record<
  string,
  { markdownDescription: string }
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
  const conditions = contributes.viewsWelcome.map(({ when = '' }) => when).join(' ');
  const known = [...Object.values(contextKeys), ...settings.map((name) => `config.tandem.${name}`)];
  for (const [key] of conditions.matchAll(/(?:config\.)?tandem\.[\w.]+/g)) expect(known).toContain(key);
});

it('links only to known commands from welcome texts and descriptions', () => {
  const texts = [
    ...contributes.viewsWelcome.map(({ contents }) => contents),
    ...Object.values(properties).map(({ markdownDescription }) => markdownDescription),
  ];
  for (const [, command] of texts.join('\n').matchAll(/\(command:(tandem\.\w+)\)/g)) {
    expect(Object.values(commands)).toContain(command);
  }
});

it('wakes for a session that is restored, and restricts only settings that exist', () => {
  expect(manifest.activationEvents).toEqual([`onWebviewPanel:${sessionViewType}`]);
  for (const setting of manifest.capabilities.untrustedWorkspaces.restrictedConfigurations) {
    expect(Object.keys(properties)).toContain(setting);
  }
});
