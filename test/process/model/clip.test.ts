import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { encode } from 'fast-png';
import { afterAll, expect, it } from 'vitest';
import { root } from '../../../scripts/setup/project.mjs';
import { ClipEmbedder } from '../../../src/core/model/local/clip/embedder';
import { cosine } from '../../../src/core/page/clipInput';
import { testPicture } from '../../fixtures/pictures';
import { inFolder } from '../../fixtures/tasks';

const script = path.join(root, 'dist/embedding.js');
const folder = path.join(root, 'test/fixtures/clip');
/** By transformers, for the same pictures; undefined stands for the black square. */
const expected = JSON.parse(readFileSync(path.join(folder, 'expected.json'), 'utf8')) as Record<
  string,
  number[]
>;

const clip = new ClipEmbedder(script, folder);

afterAll(() => clip.close());

const pngOf = (size: string): Buffer | undefined => {
  if (size === 'black') return undefined;
  const [width, height] = size.split('x').map(Number) as [number, number];
  return Buffer.from(encode({ ...testPicture(width, height), channels: 3 }));
};

it('gives the features that transformers gives, within 1e-5, and their cosines', async () => {
  const sizes = Object.keys(expected);
  const features = await Promise.all(sizes.map((size) => clip.embed(pngOf(size))));
  const reference = sizes.map((size) => Float32Array.from(expected[size]!));
  for (const [index, feature] of features.entries()) {
    const theirs = reference[index]!;
    const length = Math.hypot(...theirs);
    for (const [at, value] of feature.entries())
      expect(Math.abs(value - theirs[at]!) / length, sizes[index]).toBeLessThan(1e-5);
    for (const [other, theirOther] of reference.entries())
      expect(cosine(feature, features[other]!)).toBeCloseTo(cosine(theirs, theirOther), 5);
  }
});

it('says in one sentence what is wrong with a folder', () =>
  inFolder(async (place) => {
    expect(() => new ClipEmbedder(script, place)).toThrow(/CLIP, which is not in .*tandem download clip/);
    await mkdir(path.join(place, 'onnx'));
    await writeFile(path.join(place, 'onnx/vision_model.onnx'), 'no graph');
    const damaged = new ClipEmbedder(script, place);
    await expect(damaged.embed(undefined)).rejects.toMatchObject({ code: 'model/damaged-folder' });
    await damaged.close();
  }));
