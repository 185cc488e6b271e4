import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { chromium } from '../../../scripts/setup/system.mjs';
import { findBrowser } from '../../../src/core/rendering/browser';
import { startChatServer } from '../../fixtures/chat-server';
import { answer } from '../../fixtures/chat-server-replies';
import { attentivePage, tradeIn } from '../../fixtures/page-world';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, json, starterRows, tandem } from './tandem';

const { folder, file } = commandFolder();

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
        ...{ done: z.number(), solved: z.number(), meanScores: z.object({ checks: z.number() }) },
      }),
    });
    const { summary } = await json(
      schema,
      ...[
        ...['collect', '--tasks', pack, '--agent', `openai:m@${server.url}`, '--simulator', 'rules'],
        ...['--data', path.join(folder, 'world'), '--browser', path.join(folder, 'no-browser')],
      ],
    );
    expect(summary).toMatchObject({ done: 12, solved: 12, meanScores: { checks: 1 } });
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
          meanScores: z.object({ structure: z.number() }),
        },
      }),
    });
    const browser = chromium() ?? (await findBrowser());
    const play = (data: string) => [
      ...['collect', '--tasks', pack, '--agent', `openai:m@${server.url}`, '--simulator', 'rules'],
      ...['--data', path.join(folder, data), '--jobs', '1', '--browser', browser],
    ];
    const { summary } = await json(schema, ...play('pages'));
    expect(summary).toMatchObject({ done: 2, total: 2, pages: 1 });
    expect(summary.meanScores.structure).toBeGreaterThanOrEqual(0.95);
    const requests = server.requests.length;
    expect(requests).toBeLessThan(8);

    const again = await tandem(...play('pages'));
    expect(again.stdout).toMatch(/Mean structural score of 1 web page: (0\.9[5-9]\d|1\.000)\./);
    expect(server.requests).toHaveLength(requests);
  });

  it('leaves pages out where the simulator cannot see them, and needs no browser for functions', async () => {
    const pack = await file('pages.jsonl', [
      { problem_description: 'A page.', ground_truth: '<html></html>' },
    ]);
    const agent = ['--agent', `script:${await file('agent.json', [['OUTPUT:\nI WANT TO ANSWER:\nx = 1']])}`];
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
    const blind = await collect(pack, ...agent.with(0, '--simulator'));
    expect(blind.stderr).toMatch(/pages\.jsonl:1: left out: The task .* is a web page/);
    expect((await collect(pack, '--simulator', 'rules', '--browser', '/none')).stderr).toContain(
      'no program at /none',
    );
    const functions = await collect(starterPack, '--simulator', 'rules', '--browser', '/none');
    expect(functions.stdout).toContain('1 of 1 dialogues');
  });
});
