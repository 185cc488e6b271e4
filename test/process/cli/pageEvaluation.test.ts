import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { chromium } from '../../../scripts/setup/system.mjs';
import { findBrowser } from '../../../src/core/rendering/browserPages';
import { agentTurn, answered, candidates, choice, kim, openLog, started } from '../../fixtures/log';
import { commandFolder, json, starterRows, tandem } from './tandem';

const { folder, file } = commandFolder();
const browser = chromium() ?? (await findBrowser());

const page = (title: string, color: string): string =>
  `<html><body style="background: ${color}"><h1>${title}</h1><p>Open from six in the morning.</p></body></html>`;
const wanted = page('Golden Crust', '#bfdbfe');
const start = page('Golden Crust', '#ffffff');

/** An agent that says the same in each dialogue. */
const says = async (name: string, ...messages: readonly string[]): Promise<string> =>
  `script:${await file(`${name}.json`, [[...messages.map((message) => `OUTPUT:\n${message}`)]])}`;

const interval = z.object({ low: z.number(), high: z.number() });
const estimate = z.object({ mean: z.number(), interval }).nullable();
const evaluated = z.object({
  rows: z.array(z.object({ task: z.string(), score: z.number().optional(), success: z.number().optional() })),
  summary: z.object({
    agents: z.array(
      z.object({
        tasks: z.number(),
        pages: z.array(
          z.object({
            ...{ measure: z.literal('structure'), renderer: z.string(), tasks: z.number() },
            score: z.object({ value: z.number() }),
            drafts: z.array(z.object({ turn: z.number(), gain: z.object({ value: z.number() }).optional() })),
          }),
        ),
        draftProgress: z.object({
          ...{ told: z.number(), applied: estimate, regressed: estimate },
          ...{ claims: z.number(), falseClaims: estimate },
        }),
      }),
    ),
    comparisons: z.array(
      z.object({ pages: z.array(z.object({ winRate: z.object({ rate: z.number(), tasks: z.number() }) })) }),
    ),
  }),
});

describe('tandem evaluate on web pages', () => {
  it('gives scores, gains of drafts and the win rate, apart from functions', async () => {
    const pack = await file('mixed.jsonl', [
      ...['Bakery', 'Mill'].map((name) => ({
        problem_description: `${name} Website: a title and a text.`,
        ground_truth: wanted,
      })),
      (await starterRows())[0],
    ]);
    const done = `I WANT TO ANSWER:\n`;
    const agents = [
      await says('forgets', wanted, start, `${done}${start}`),
      await says('applies', start, wanted, `${done}${wanted}`),
    ];
    const play = [
      ...['evaluate', '--tasks', pack, '--agent', ...agents, '--simulator', 'rules', '--jobs', '1'],
      ...['--data', path.join(folder, 'evaluation'), '--browser', browser],
    ];
    const { rows, summary } = await json(evaluated, ...play);
    const [forgets, applies] = summary.agents;
    expect(applies).toMatchObject({
      tasks: 1,
      pages: [{ tasks: 2, score: { value: 1 } }],
      draftProgress: { told: 2, applied: { mean: 1 }, regressed: { mean: 0 }, falseClaims: { mean: 0 } },
    });
    expect(forgets!.draftProgress).toMatchObject({ applied: { mean: 0 }, regressed: { mean: 0.5 } });
    const [first, second, third] = applies!.pages[0]!.drafts;
    expect([first!.gain, third!.gain!.value]).toEqual([undefined, 0]);
    expect(second!.gain!.value).toBeGreaterThan(0.1);
    expect(summary.comparisons[0]!.pages).toMatchObject([{ winRate: { rate: 1, tasks: 2 } }]);
    expect(rows.filter(({ score }) => score !== undefined)).toHaveLength(4);

    const { stdout } = await tandem(...play);
    expect(stdout).toMatch(
      /^script:\S+applies.json +2 +2 +1\.000 +3\.00 +structure 1, mode fixed, drawn by /m,
    );
    expect(stdout).toMatch(
      /on 2 web pages \(structure 1, .*\): score \+0\.\d{3}, .*; win rate 100\.0 % \[34\.2, 100\.0\]/,
    );
    expect(stdout).toContain('of 2 told differences the next draft has 100.0 %');
    expect(stdout).toMatch(/0\.0 % \[0\.0, \d+\.\d\] of \d+ sentences that could be checked are false/);
  }, 120_000);
});

describe('tandem agreement', () => {
  const data = path.join(folder, 'choices');
  const row = /^structure 1, drawn by .* +100\.0 % \[20\.7, 100\.0\], n = 1 +0$/m;

  it('says how often the measure of pages prefers the chosen one, and why not where it cannot', async () => {
    const log = await openLog(data);
    await log.recordTask({ kind: 'page', id: 'bakery', description: 'A bakery.', reference: wanted });
    const shown = candidates('a', 1);
    const [first, second] = shown.candidates;
    await log.appendAll([
      started('a', { collaborator: kim, task: 'bakery' }),
      {
        ...shown,
        candidates: [
          { ...first, text: `OUTPUT:\n${start}` },
          { ...second, text: `OUTPUT:\n${wanted}` },
        ],
      },
      choice('a', 1, 1),
      agentTurn('a', 1, `OUTPUT:\n${wanted}`),
      answered('a', 1, wanted),
    ]);
    await log.close();
    expect((await tandem('agreement', '--data', data, '--browser', browser)).stdout).toMatch(row);
    const without = await tandem('agreement', '--data', data, '--browser', '/none');
    expect(without.stdout).toContain('How measures of web pages agree with choices is not known: ');
    expect(without.code).toBe(0);
  }, 60_000);
});

describe('tandem grade on web pages', () => {
  it('scores them by what measures each, apart from functions', async () => {
    const page = { problem_description: 'Bakery Website: a title and a text.', ground_truth: wanted };
    const checks = [{ name: 'title', where: 'h1', property: 'text', equals: 'Golden Crust' }];
    const rows = await file('answers.jsonl', [
      { task: page, answer: `OUTPUT:\nI WANT TO ANSWER:\n${wanted}` },
      { task: { ...page, checks }, answer: start },
      { task: page, answer: 'No page at all.' },
    ]);
    const { code, stdout } = await tandem('grade', rows, '--browser', browser);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Mean score 1\.000 on 1 web page \(checks 1, mode fixed\)\.$/m);
    expect(stdout).toMatch(/^Mean score 0\.500 on 2 web pages \(structure 1, mode fixed, drawn by /m);
    expect(stdout).not.toContain('pass all tests');
  });

  it('names the checks that the wanted page itself fails', async () => {
    const checks = [{ name: 'title', where: 'h1', property: 'text', equals: 'Golden Mill' }];
    const pack = await file('faulty.jsonl', [
      { id: 'faulty', problem_description: 'Bakery Website.', ground_truth: wanted, checks },
    ]);
    const { code, stdout } = await tandem('tasks', '--references', pack);
    expect(code).toBe(1);
    expect(stdout).toContain(
      'reference of task faulty: the wanted page fails its check of the title (text).',
    );
  });
});
