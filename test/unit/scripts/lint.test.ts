import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { root } from '../../../scripts/setup/project.mjs';

const files = {
  'src/core/task/bank.ts': `
    import '../dialogue/play';
    import '../../cli/collect';
    import type { Panel } from '../../editor/panel';
    import 'vscode';
    import './python/parse';
    await import('../model/model');`,
  'src/core/training/data/rows.ts': `
    import '../../evaluation/figures';
    import '../../trajectory/log';
    import '../runs';`,
  'src/core/erasure/erase.ts': `
    import '../trajectory/log';
    import '../../../webview/session/protocol';`,
  'src/cli/collect.ts': `
    import '../core/dialogue/play';
    import '../editor/panel';
    import '../../experiments/scoreboard/board';
    import '../../webview/session/protocol';
    import '../../webview/session/page';
    import '../views/gradeView';
    import 'vscode';`,
  'src/views/gradeView.ts': `
    import '../core/task/task';
    import '../cli/collect';
    import '../../webview/session/protocol';`,
  'src/editor/session/panel.ts': `
    import 'vscode';
    import '../../core/dialogue/play';
    import '../../../webview/session/protocol';
    import '../../../webview/session/page';
    import '../manifest/places';
    import '../../cli/collect';
    import '../panel';
    import '../app';
    import '../judging/panel';
    import './page';`,
  'src/editor/runs/form/panel.ts': `
    import '../panel';
    import '../../panel';
    import '../../judging/panel';`,
  'src/editor/panel.ts': `
    import './tree';
    import './app';
    import './judging/panel';`,
  'src/editor/credit/credits.ts': `
    import '../engine';
    import '../judging/panel';`,
  'src/editor/app.ts': `
    import './judging/panel';`,
  'src/extension.ts': `
    import '../webview/session/page';`,
  'webview/session/page.ts': `
    import '../dialogue/turn';
    import '../../src/core/task/bank';
    import '@vscode/webview-ui-toolkit';`,
  'webview/ui/button.ts': `
    import '@vscode/webview-ui-toolkit';
    import '../../src/core/task/bank';`,
  'src/core/task/read.ts': `
    const MARK = '(?:a|b)+';
    const read = [/\\s+$/, /^\\d+\\d*x/, new RegExp(\`^x\${MARK}b*c\`), /^\\s+/];
    const built = [/a/, /b/].map(({ source }) => source).join('|');
    const joined = new RegExp(built);
    const alone = [/(a+)+$/, /a*a*$/, /.*x/, /^(?:a+b?)+$/, /^.*x/, /^a+$/];`,
  'src/core/task/save.ts': `
    const save = async () => Promise.resolve();
    save();`,
};

const report = z.object({
  diagnostics: z.array(
    z.object({ code: z.string(), message: z.string(), filename: z.string(), help: z.string().optional() }),
  ),
});

let folder: string;
let found: z.infer<typeof report>['diagnostics'];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-lint-'));
  const config = pathToFileURL(path.join(root, 'oxlint.config.mts')).href;
  await writeFile(path.join(folder, 'oxlint.config.mts'), `export { default } from '${config}';`);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const oxlint = path.join(root, 'node_modules/oxlint/bin/oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '-f', 'json'], { cwd: folder, encoding: 'utf8' });
  found = report.parse(JSON.parse(stdout)).diagnostics;
});
afterAll(() => rm(folder, { recursive: true }));

const viewWall = (tier: string): string =>
  `editor/${tier} imports no view and no door: share it in the shell, or let app.ts hand it over.`;

test.each([
  [
    'src/core/task/bank.ts',
    'core/task may import only: nothing else of the core.',
    'core/task may import only: nothing else of the core.',
    'The core never imports the command line.',
    'The core never imports the editor.',
    'Only src/editor imports vscode.',
  ],
  [
    'src/core/training/data/rows.ts',
    'core/training may import only: dialogue, model, grading, trajectory, task.',
  ],
  ['src/core/erasure/erase.ts', 'The core never imports the webview.'],
  [
    'src/cli/collect.ts',
    'Import only webview/<folder>/protocol.',
    'The command line never imports the editor.',
    'Nothing of the product imports a study.',
    'Only src/editor imports vscode.',
  ],
  ['src/views/gradeView.ts', 'What pages show is made without the editor and the command line.'],
  [
    'src/editor/session/panel.ts',
    'Import only webview/<folder>/protocol.',
    'The editor never imports the command line.',
    'package.json is written from src/editor/manifest; no bundle holds it.',
    ...[viewWall('session'), viewWall('session')],
  ],
  ['src/editor/runs/form/panel.ts', viewWall('runs')],
  ['src/editor/panel.ts', viewWall('shell'), viewWall('shell')],
  ['src/editor/credit/credits.ts', viewWall('shell')],
  ['src/editor/app.ts'],
  ['src/extension.ts', 'Import only webview/<folder>/protocol.'],
  [
    'webview/session/page.ts',
    'A webview imports nothing of src.',
    'Only webview/ui knows the component toolkit.',
  ],
  ['webview/ui/button.ts', 'A webview imports nothing of src.'],
])('lint keeps the walls of %s', (name, ...messages) => {
  const crossed = found.filter(
    ({ code, filename }) =>
      code === 'eslint(no-restricted-imports)' && path.normalize(filename) === path.normalize(name),
  );
  expect(crossed.map(({ help }) => help).sort()).toEqual(messages.sort());
});

test('lint finds regular expressions that take more than linear time, and patterns that it cannot read', () => {
  const told = found.filter(({ code }) => code === 'tandem(linear-regexp)').map(({ message }) => message);
  const among = (form: RegExp): number => told.filter((message) => form.test(message)).length;
  expect(told).toHaveLength(8);
  expect(among(/^A long run of \/.*\/ makes this expression take more than linear time/)).toBe(5);
  expect(among(/^A long run of \/a\/ makes this expression take exponential time/)).toBe(2);
  expect(among(/^Lint cannot read this pattern/)).toBe(1);
});

test('lint knows types', () => {
  expect(found).toContainEqual(expect.objectContaining({ code: 'typescript(no-floating-promises)' }));
});
