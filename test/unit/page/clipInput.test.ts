import { createHash } from 'node:crypto';
import { encode } from 'fast-png';
import { expect, it } from 'vitest';
import { BLACK_PICTURE, clipInput, clipSquare, cosine, decodePng } from '../../../src/core/page/clipInput';
import { testPicture } from '../../fixtures/pictures';

/**
 * SHA-256 of the bytes of `im.resize(size, Image.BICUBIC).crop(box)` by Pillow 11.1.0 for the same pictures. The last
 * has fewer rows than the filter is wide.
 */
const byPillow = {
  '1366x2048': '926261d41a50a0bc46226f26170f6583f0327032ab91a2862a20c89b264b5be4',
  '1366x300': 'c8c0ade68ec86bf5a72c17141c82970478899ef64a6dffb9a7180e02a853c719',
  '300x700': 'c78ac25713c81a04e111d54b73c2ad5ef2ec710e731dab5de832ba34400976fb',
  '224x224': '3882f9d477baeaf978459985c81783afb0b03de308a0d7b4587a511b92b20019',
  '100x37': 'ddf7d8970c70f7c6270795982e3119f9ab62d0dc7066fc006542abb5658753de',
  '683x341': '34568d18e5f928e3f2bcfbb1e79986dfc1e0aa4d8db25b1eea25128acd82ad52',
  '1366x9': '2fecdb64e755d5642909dbea65e04f77ccf987f396d8757e140fa25fd0f47143',
};

it.each(Object.entries(byPillow))('scales a picture of %s byte for byte as Pillow', (size, sha256) => {
  const [width, height] = size.split('x').map(Number) as [number, number];
  const square = clipSquare(testPicture(width, height));
  expect(createHash('sha256').update(square.data).digest('hex')).toBe(sha256);
});

it('normalizes each channel by its mean and deviation', () => {
  const input = clipInput(BLACK_PICTURE);
  expect(input).toHaveLength(3 * 224 * 224);
  expect(input[0]).toBeCloseTo(-0.48145466 / 0.26862954, 6);
  expect(input[224 * 224]).toBeCloseTo(-0.4578275 / 0.26130258, 6);
  expect(input[2 * 224 * 224]).toBeCloseTo(-0.40821073 / 0.27577711, 6);
  const white = clipInput({ ...BLACK_PICTURE, data: new Uint8Array(BLACK_PICTURE.data.length).fill(255) });
  expect(white.at(-1)).toBeCloseTo((1 - 0.40821073) / 0.27577711, 6);
});

it('reads the pixels of a PNG, leaving transparency out', () => {
  const { width, height, data } = testPicture(5, 4);
  const png = encode({ width, height, data, channels: 3 });
  expect(decodePng(png)).toEqual({ width, height, data });
  const withAlpha = Uint8Array.from({ length: 5 * 4 * 4 }, (_, at) =>
    at % 4 === 3 ? 128 : data[Math.floor(at / 4) * 3 + (at % 4)]!,
  );
  expect(decodePng(encode({ width, height, data: withAlpha, channels: 4 }))).toEqual({ width, height, data });
  expect(() => decodePng(encode({ width: 1, height: 1, data: new Uint8Array(1), channels: 1 }))).toThrow();
});

it('compares two directions', () => {
  expect(cosine(Float32Array.of(3, 4), Float32Array.of(6, 8))).toBeCloseTo(1, 12);
  expect(cosine(Float32Array.of(1, 0), Float32Array.of(1, 1))).toBeCloseTo(Math.SQRT1_2, 12);
});
