import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { root } from '../../../scripts/setup/project.mjs';
import { chromium } from '../../../scripts/setup/system.mjs';
import { findBrowser } from '../../../src/core/rendering/browserPages';
import { startChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { attentivePage, tradeIn } from '../../fixtures/page-world';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, json, starterRows, tandem } from './tandem';

const { folder, file } = commandFolder();

/** Random weights with the inputs and outputs of the published ones (test/fixtures/README.md). */
const CLIP = path.join(root, 'test/fixtures/clip');

const browser = async (): Promise<string> => chromium() ?? (await findBrowser());

const SHEET = 'https://cdn.jsdelivr.net/npm/tailwindcss@2.2.19/dist/tailwind.min.css';

/** The agent's knowledge of the page: it starts with a guess, and each reply mends a part of it. */
const guess = {
  body: 'white',
  bar: 'blue-500',
  title: 'Golden Crest',
  size: 'xl',
  bold: false,
  welcome: '',
  side: 'left',
};
const wanted: typeof guess = {
  ...{ body: 'gray-100', bar: 'green-600', title: 'Golden Crust Bakery', size: '3xl', bold: true },
  ...{ welcome: 'Fresh bread every morning, baked in our own stone oven.', side: 'center' },
};

const html = ({ body, bar, title, size, bold, welcome, side }: typeof guess): string =>
  `<html><link href="${SHEET}" rel="stylesheet"><body class="bg-${body}">` +
  `<header class="bg-${bar} text-white p-4"><h1 class="text-${size} ${bold ? 'font-bold' : 'font-normal'}">${title}</h1></header>` +
  `${welcome && `<p class="p-4 text-${side}">${welcome}</p>`}</body></html>`;

/** Applies what it is told, and nothing else. */
function mended(page: typeof guess, told: string): typeof guess {
  return {
    ...page,
    ...(told.includes('background of the page should be') && { body: wanted.body }),
    ...(/area behind .* should be/.test(told) && { bar: wanted.bar }),
    ...(told.includes('should say “') && { title: /should say “([^”]*)”/.exec(told)![1] }),
    ...(told.includes('should be bigger') && { size: wanted.size }),
    ...(told.includes('should be bold') && { bold: true }),
    ...(told.includes('There should be a text') && { welcome: /a text “([^”]*)”/.exec(told)![1] }),
    ...(told.includes('should be in the center') && { side: 'center' }),
  };
}

describe('tandem collect', () => {
  it('plays pages of the world by their checks, without a browser', async () => {
    await using server = await startChatServer({
      reply: ({ body: { messages } }) => {
        const told = messages.slice(1).flatMap(({ role, content }) => (role === 'user' ? [content] : []));
        const page = attentivePage(tradeIn(messages[0]!.content), told);
        const isDone = /[Nn]othing( is)? left/.test(told.at(-1) ?? '');
        return answer(`OUTPUT:\n${isDone ? 'I WANT TO ANSWER:\n' : ''}${page}`);
      },
    });
    const pack = path.join(folder, 'world.jsonl');
    await tandem('world', pack, '--kind', 'pages', '--tasks', '12', '--split', 'development');
    const schema = z.object({
      summary: z.object({
        ...{ done: z.number(), solved: z.number(), meanScore: z.number() },
        measures: z.array(z.object({ measure: z.string() })),
      }),
    });
    const { summary } = await json(
      schema,
      ...[
        ...['collect', '--tasks', pack, '--agent', `openai:m@${server.url}`, '--simulator', 'rules'],
        ...['--data', path.join(folder, 'world'), '--browser', path.join(folder, 'no-browser')],
      ],
    );
    expect(summary).toMatchObject({ done: 12, solved: 12, meanScore: 1, measures: [{ measure: 'checks' }] });
  });

  it('plays a web page with an agent that applies what it is told, beside a function', async () => {
    await using server = await startChatServer({
      reply: ({ body: { messages } }) => {
        if (!messages[0]!.content.includes('Bakery Website'))
          return answer('OUTPUT:\nI WANT TO ANSWER:\nx = 1');
        const told = messages.slice(1).filter(({ role }) => role === 'user');
        const page = told.reduce((known, { content }) => mended(known, content), guess);
        const isDone = /[Nn]othing( is)? left/.test(told.at(-1)?.content ?? '');
        return answer(`OUTPUT:\n${isDone ? 'I WANT TO ANSWER:\n' : ''}${html(page)}`);
      },
    });
    const page = { problem_description: 'Bakery Website: a bar and a welcome.', ground_truth: html(wanted) };
    const pack = await file('mixed.jsonl', [page, (await starterRows())[0]]);
    const schema = z.object({
      summary: z.object({
        ...{
          done: z.number(),
          total: z.number(),
          pages: z.number(),
          meanScore: z.number(),
        },
      }),
    });
    const play = async (data: string) => [
      ...['collect', '--tasks', pack, '--agent', `openai:m@${server.url}`, '--simulator', 'rules'],
      ...['--data', path.join(folder, data), '--jobs', '1', '--browser', await browser()],
    ];
    const { summary } = await json(schema, ...(await play('pages')));
    expect(summary).toMatchObject({ done: 2, total: 2, pages: 1 });
    expect(summary.meanScore).toBeGreaterThanOrEqual(0.95);
    const requests = server.requests.length;
    expect(requests).toBeLessThan(8);

    const again = await tandem(...(await play('pages')));
    expect(again.stdout).toMatch(/Mean score of 1 web page \(structure\): (0\.9[5-9]\d|1\.000)\./);
    expect(server.requests).toHaveLength(requests);
  });

  it('shows a model the pictures of both pages, keeps them, and exports the dialogue', async () => {
    const seen: string[][] = [];
    await using server = await startChatServer({
      tells: { '/props': { modalities: { vision: true } } },
      reply: ({ body: { model, messages } }) => {
        if (model === 'agent') {
          const isFirst = messages.length === 1;
          return answer(`OUTPUT:\n${isFirst ? html(guess) : `I WANT TO ANSWER:\n${html(wanted)}`}`);
        }
        const parts = messages[0]!.content as unknown as { image_url?: { url: string } }[];
        seen.push(parts.flatMap(({ image_url: image }) => image?.url ?? []));
        return answer('The title should be bigger.');
      },
    });
    const page = { id: 'bakery', problem_description: 'Bakery Website.', ground_truth: html(wanted) };
    const data = path.join(folder, 'pictures');
    const play = [
      ...['collect', '--tasks', await file('bakery.jsonl', [page]), '--data', data, '--jobs', '1'],
      ...['--agent', `openai:agent@${server.url}`, '--simulator', `openai:seer@${server.url}`],
      ...['--browser', await browser()],
    ];
    const schema = z.object({ summary: z.object({ done: z.number(), meanScore: z.number() }) });
    expect((await json(schema, ...play)).summary).toEqual({ done: 1, meanScore: 1 });

    const pngs = seen[0]!.map((url) => Buffer.from(url.replace('data:image/png;base64,', ''), 'base64'));
    expect(pngs.map((png) => png.subarray(1, 4).toString())).toEqual(['PNG', 'PNG']);
    const names = pngs.map((png) => `${createHash('sha256').update(png).digest('hex')}.png`);
    expect((await readdir(path.join(data, 'pictures'))).sort()).toEqual(names.toSorted());
    expect(await tandem('check', data)).toMatchObject({ code: 0 });

    const rows = path.join(folder, 'bakery-rows.jsonl');
    expect(await tandem('export', '--format', 'trajectories', '--data', data, rows)).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(await readFile(rows, 'utf8'))).toMatchObject({
      tandem: { success: null, turns: [{ reply_shown: 'pictures', leaked: false }, {}] },
    });
    const other = path.join(folder, 'imported-pictures');
    expect((await tandem('import', data, '--data', other)).stdout).toContain('1 trajectories imported');
    expect(await tandem('check', other)).toMatchObject({ code: 0 });
    expect((await tandem('import', rows, '--data', path.join(folder, 'imported-rows'))).stdout).toContain(
      '1 trajectories imported',
    );

    await rm(path.join(data, 'pictures', names[0]!));
    const bad = await tandem('check', data);
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.stdout).toMatch(
      /\.png, a picture that the simulator of the dialogue .* was shown, is missing\./,
    );
  });

  it('scores pages by the published measure, which needs the folder of CLIP', async () => {
    const page = { problem_description: 'Bakery Website: a bar and a welcome.', ground_truth: html(wanted) };
    const pack = await file('one-page.jsonl', [page]);
    const turns = [`OUTPUT:\n${html(guess)}`, `OUTPUT:\nI WANT TO ANSWER:\n${html(wanted)}`];
    const agent = await file('page-agent.json', [turns]);
    const play = (clip: string): string[] => [
      ...[
        'collect',
        '--tasks',
        pack,
        '--agent',
        `script:${agent}`,
        '--simulator',
        'rules',
        '--mode',
        'paper',
      ],
      ...['--data', path.join(folder, 'by-clip'), '--jobs', '1', '--clip', clip],
    ];
    const without = await tandem(...play(folder), '--browser', await browser());
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('tandem download clip') as string,
    });
    const result = await tandem(...play(CLIP), '--browser', await browser());
    expect(result.stdout).toContain('Mean score of 1 web page (clip): 1.000.');
  });

  it('describes pages to a model without vision, and needs no browser for functions', async () => {
    const pack = await file('pages.jsonl', [
      { problem_description: 'A page.', ground_truth: '<html></html>' },
    ]);
    const first = ['OUTPUT:\n<html><body>Hello</body></html>', 'OUTPUT:\nI WANT TO ANSWER:\nx = 1'];
    const agent = ['--agent', `script:${await file('agent.json', [first])}`];
    const collect = (tasks: string, ...more: string[]) =>
      tandem(
        'collect',
        ...agent,
        '--tasks',
        tasks,
        '--data',
        path.join(folder, 'other'),
        '--limit',
        '1',
        ...more,
      );
    const blind = ['--simulator', `script:${await file('simulator.json', [['Say nothing at all.']])}`];
    expect(await collect(pack, ...blind, '--browser', await browser())).toMatchObject({
      code: 0,
    });
    const texts = await readdir(path.join(folder, 'other/log'));
    const log = await Promise.all(
      texts.map((name) => readFile(path.join(folder, 'other/log', name), 'utf8')),
    );
    expect(log.join('')).toContain('"shown":"outlines"');
    expect((await collect(pack, '--simulator', 'rules', '--browser', '/none')).stderr).toContain(
      'no program at /none',
    );
    const functions = await collect(starterPack, '--simulator', 'rules', '--browser', '/none');
    expect(functions.stdout).toContain('1 of 1 dialogues');
  });
});
