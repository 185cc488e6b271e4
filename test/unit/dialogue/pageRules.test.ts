import { expect, it } from 'vitest';
import { differencesOf } from '../../../src/core/page/differences';
import { differenceInWords } from '../../../src/core/page/outlineWords';
import { answerByDifferences } from '../../../src/core/dialogue/pageRules';
import { bakery, outlineOf, pageOf, reader, shows } from '../../fixtures/pages';

const reply = (message: string, history: readonly string[] = [], seed = 1, replyLimit = 1000) =>
  answerByDifferences({ wanted: bakery.reference, message, history, seed, replyLimit }, reader);

const differences = (...lines: string[]): string[] => {
  const wanted = outlineOf(bakery.reference);
  return differencesOf(outlineOf(pageOf(...lines)), wanted).map((one) => differenceInWords(one, wanted));
};

it('tells the two differences that are seen first, then those that it has not told', async () => {
  const [first, second, third, ...rest] = differences('Golden Crust');
  expect(rest).toEqual([]);
  const told = await reply(shows('Golden Crust'));
  expect(told).toEqual({ text: `${first} ${second}`, comparedPages: true });
  expect((await reply(shows('Golden Crust'), [told.text])).text).toBe(third);
});

it('repeats what still stands when everything was told', async () => {
  const all = differences('Golden Crust');
  const { text } = await reply(shows('Golden Crust'), [all.join(' ')]);
  expect(text).toMatch(/:/);
  expect(text.endsWith(`${all[0]} ${all[1]}`)).toBe(true);
});

it('keeps whole sentences within the reply limit', async () => {
  const [first, second] = differences('Golden Crust');
  expect((await reply(shows('Golden Crust'), [], 1, `${first} ${second}`.length - 1)).text).toBe(first);
});

it('says that nothing is left of the wanted page', async () => {
  const { text, comparedPages } = await reply(`OUTPUT:\nI WANT TO ANSWER:\n${bakery.reference}`);
  expect([text, comparedPages]).toEqual([expect.stringMatching(/nothing( is)? left/i), true]);
});

it('asks for a page where the message has none, or only in its thoughts', async () => {
  const { text, comparedPages } = await reply(`${bakery.reference}\nOUTPUT:\nWhich colors?`);
  expect([text, comparedPages]).toEqual([expect.stringContaining('<html>'), false]);
});

it('says why a page was not drawn', async () => {
  expect(await reply(shows('slow'))).toEqual({ text: 'It is too slow.', comparedPages: false });
});

it('says the same for the same seed', async () => {
  const texts = await Promise.all(
    [1, 1, 2, 3, 4, 5, 6, 7, 8].map(async (seed) => (await reply('Hello', [], seed)).text),
  );
  expect(texts[0]).toBe(texts[1]);
  expect(new Set(texts).size).toBe(2);
});
