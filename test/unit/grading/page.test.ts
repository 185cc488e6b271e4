import { expect, it } from 'vitest';
import { verdictOf } from '../../../src/core/grading/grade';
import { Fault } from '../../../src/core/fault';
import { type PictureEmbedder, gradePage } from '../../../src/core/grading/page';
import { gradeSchema } from '../../../src/core/trajectory/event';
import { bakery, pageOf, reader } from '../../fixtures/pages';

const draftsOf = (pages: readonly string[]) => pages.map((html, index) => ({ turn: index + 1, html }));

const grade = (pages: readonly string[], mode: 'fixed' | 'paper' = 'fixed', task = bakery) =>
  gradePage(task, draftsOf(pages), mode, reader);

/** A page's picture is its text; the direction of a picture turns with its length, and no page looks the other way. */
const clip = {
  precision: 'fp32' as const,
  embed: (png: Buffer | undefined) =>
    Promise.resolve(png === undefined ? Float32Array.of(-1, 0) : Float32Array.of(1, png.length / 100)),
};
const withPictures = {
  ...reader,
  pictureOf: async (html: string) => {
    await reader.outlineOf(html);
    return Buffer.from(html);
  },
};
const gradeByClip = (pages: readonly string[], by: PictureEmbedder = clip) =>
  gradePage(bakery, draftsOf(pages), 'paper', withPictures, by);

it('compares pictures in mode paper', async () => {
  const graded = await gradeByClip([pageOf('Golden Crust'), bakery.reference]);
  const wanted = bakery.reference.length / 100;
  const first = pageOf('Golden Crust').length / 100;
  const expected = (1 + first * wanted) / Math.hypot(1, first) / Math.hypot(1, wanted);
  expect(graded).toMatchObject({
    ...{ mode: 'paper', success: null, reward: expect.closeTo(1, 6) as number },
    page: {
      ...{ measure: 'clip', version: 1, renderer: 'a test' },
      drafts: [
        { turn: 1, score: expect.closeTo(expected, 6) as number },
        { turn: 2, score: expect.closeTo(1, 6) as number },
      ],
    },
  });
  expect(gradeSchema.parse(graded)).toEqual(graded);
});

it('takes no page, and one that cannot be drawn, for a black square in mode paper', async () => {
  expect(await gradeByClip([])).toMatchObject({ reward: 0, page: { drafts: [] } });
  expect(await gradeByClip([bakery.reference, pageOf('slow')])).toMatchObject({ reward: 0 });
  const same = { ...clip, embed: () => Promise.resolve(Float32Array.of(1, 0)) };
  expect(await gradeByClip([], same)).toMatchObject({ reward: 1 });
});

it('is not given in mode paper without a browser', async () => {
  const pictureOf = () => Promise.reject(new Fault('page/no-browser', 'No browser was found.'));
  const graded = await gradePage(bakery, [], 'paper', { ...reader, pictureOf }, clip);
  expect(graded).toMatchObject({ reward: null, notGradable: 'No browser was found.' });
});

it('names quantized weights in the measure', async () => {
  const graded = await gradeByClip([bakery.reference], { ...clip, precision: 'int8' });
  expect(graded.page!.measure).toBe('clip-int8');
});

it('scores the last page, and each one before it', async () => {
  const first = pageOf('Golden Crust');
  const graded = await grade([first, bakery.reference]);
  const { score } = (await grade([first])).page!;
  expect(score).toBeGreaterThan(0.1);
  expect(score).toBeLessThan(0.9);
  expect(graded).toEqual({
    ...{ mode: 'fixed', reward: 1, success: null, tests: [] },
    page: {
      ...{ measure: 'structure', version: 1, score: 1, renderer: 'a test' },
      parts: { texts: 1, colors: 1, pictures: 1, height: 1 },
      drafts: [
        { turn: 1, score },
        { turn: 2, score: 1 },
      ],
    },
  });
  expect(gradeSchema.parse(graded)).toEqual(graded);
  expect(verdictOf(graded)).toBe('partial');
});

it('is 0 without a page, and where the last one cannot be drawn', async () => {
  expect(await grade([])).toMatchObject({ reward: 0, page: { score: 0, drafts: [] } });
  expect(await grade([bakery.reference, pageOf('slow')])).toMatchObject({
    ...{ reward: 0, page: { drafts: [{ score: 1 }, { score: 0 }] } },
  });
});

it('is not given where the measure is not here, or the wanted page cannot be drawn', async () => {
  expect(await grade([bakery.reference], 'paper')).toMatchObject({
    reward: null,
    notGradable: expect.stringContaining('tandem download clip') as string,
  });
  const slow = { ...bakery, reference: pageOf('slow') };
  expect(await grade([bakery.reference], 'fixed', slow)).toMatchObject({ reward: null });
});

it('grades by the checks of a task that has some, with a success when all pass', async () => {
  const checks = [
    { name: 'title', where: 'h1', property: 'text', equals: 'Golden Crust' },
    { name: 'title', where: 'h1', property: 'alignment', equals: 'center' },
  ] as const;
  const drafts = [
    { turn: 1, html: '<html><h1>Golden Crust</h1></html>' },
    { turn: 3, html: '<html><h1 style="text-align:center">Golden Crust</h1></html>' },
  ];
  const task = { ...bakery, checks };
  const grade = await gradePage(task, drafts, 'fixed', reader);
  expect(grade).toMatchObject({ mode: 'fixed', reward: 1, success: true, tests: [] });
  expect(grade.page).toMatchObject({
    ...{ measure: 'checks', score: 1, parts: { text: 1, alignment: 1 }, renderer: 'none' },
    drafts: [
      { turn: 1, score: 0.5 },
      { turn: 3, score: 1 },
    ],
  });
  const first = await gradePage(task, drafts.slice(0, 1), 'fixed', reader);
  expect(first).toMatchObject({ reward: 0.5, success: false, page: { parts: { text: 1, alignment: 0 } } });
  expect(await gradePage(task, [], 'fixed', reader)).toMatchObject({ reward: 0, success: false });
});
