import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Pages, type PageName } from '../fixtures/messages/pages';

/** Malformed messages for each page; test/bench/messages.ts sends all of them. */
const MESSAGES = 60;

/** Type of the message with which the extension host sends a page its content. */
const first: Readonly<Record<PageName, string>> = {
  ...{ session: 'snapshot', replay: 'show', statistics: 'show', people: 'show', run: 'show' },
  ...{ simulator: 'show' },
  ...{ runs: 'show', curves: 'show', newRun: 'show', comparison: 'show' },
  ...{ teaching: 'show', judging: 'show' },
};

/** State as other versions of the pages may have stored it: each part has a shape that no page accepts. */
const oldState = {
  ...{ dataFolder: 7, values: ['x'], copied: 'x', isUnfolded: {}, choice: { stage: 7, figure: '__proto__' } },
  ...{ smoothing: 'much', isLogarithmic: 1, asTable: null, steps: { share: 'x' }, isHeldOut: 'x' },
  ...{ switchedOff: [7], kind: 'x', grouping: 'constructor', asTables: 'x', ids: {}, episodes: 'x' },
  ...{ sort: { column: 7, isDescending: 'x' }, text: {}, ticked: 'x' },
  ...{ episode: 7, stars: 'x', comment: 7, thumbs: { 1: 'x' } },
};

let pages: Pages;
beforeAll(async () => {
  pages = await Pages.open();
});
afterAll(() => pages[Symbol.asyncDispose]());

describe.each(Object.entries(first) as [PageName, string][])('the page of %s', (name, type) => {
  test('goes on after whatever the extension host says, and is never left blank', async () => {
    const { sent, whole, wrong } = await pages.try(name, MESSAGES, 1);
    expect(wrong).toEqual([]);
    expect(whole.length).toBeGreaterThan(100);
    expect(sent).toBe(MESSAGES);
  });

  test('says so when the first thing it hears does not fit, and shows what comes then', async () => {
    const page = await pages.page(name);
    for (let time = 0; time < 3; time += 1) await pages.say(page, { type });
    expect(await pages.shown(page)).toContain('This view received data that it cannot show');
    const whole = await pages.sayRight(page);
    expect(whole).not.toContain('This view received data that it cannot show');
    expect(whole.length).toBeGreaterThan(100);
    await page.close();
  });

  test('begins as if nothing had been kept where what was kept does not fit', async () => {
    const [old, fresh] = [await pages.page(name, oldState), await pages.page(name)];
    expect(await pages.sayRight(old)).toBe(await pages.sayRight(fresh));
    expect(await pages.said(old)).toEqual(await pages.said(fresh));
    await Promise.all([old.close(), fresh.close()]);
  });
});
