import { decode } from 'fast-png';
import { resizeBicubic, type RgbImage } from './bicubic';

/** Side in pixels of the square that CLIP ViT-B/32 sees. */
export const CLIP_SIDE = 224;

const CHANNELS = 3;

/** Of the pictures that CLIP was trained with (openai/CLIP, `clip.py`), by channel, for samples from 0 to 1. */
const MEAN = [0.48145466, 0.4578275, 0.40821073] as const;
const DEVIATION = [0.26862954, 0.26130258, 0.27577711] as const;

/** Where a dialogue has no page, the published measure compares with this. */
export const BLACK_PICTURE: RgbImage = {
  width: CLIP_SIDE,
  height: CLIP_SIDE,
  data: new Uint8Array(CLIP_SIDE * CLIP_SIDE * CHANNELS),
};

/** @throws Error if it is no PNG with 8 bits and three or four channels, which a browser's pictures have */
export function decodePng(png: Uint8Array): RgbImage {
  const { width, height, channels, depth, data } = decode(png);
  if (depth !== 8 || channels < CHANNELS || !(data instanceof Uint8Array))
    throw new Error(`A picture has ${channels} channels of ${depth} bits.`);
  return { width, height, data: data.filter((_, index) => index % channels < CHANNELS) };
}

/** The shorter side scaled to 224 pixels and the middle square of the result, as transformers' CLIPImageProcessor. */
export function clipSquare(image: RgbImage): RgbImage {
  const { width, height } = image;
  const shorter = Math.min(width, height);
  const scaledWidth = Math.trunc((CLIP_SIDE * width) / shorter);
  const scaledHeight = Math.trunc((CLIP_SIDE * height) / shorter);
  return resizeBicubic(image, scaledWidth, scaledHeight, {
    left: Math.floor((scaledWidth - CLIP_SIDE) / 2),
    top: Math.floor((scaledHeight - CLIP_SIDE) / 2),
    width: CLIP_SIDE,
    height: CLIP_SIDE,
  });
}

/** Normalized samples, channel after channel. Shape: (3, 224, 224). */
export function clipInput(image: RgbImage): Float32Array {
  const { data } = clipSquare(image);
  const pixels = CLIP_SIDE * CLIP_SIDE;
  const input = new Float32Array(CHANNELS * pixels);
  for (let channel = 0; channel < CHANNELS; channel++)
    for (let pixel = 0; pixel < pixels; pixel++)
      input[channel * pixels + pixel] =
        (data[pixel * CHANNELS + channel]! / 255 - MEAN[channel]!) / DEVIATION[channel]!;
  return input;
}

/** Of two vectors of one length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squareA = 0;
  let squareB = 0;
  for (const [index, value] of a.entries()) {
    dot += value * b[index]!;
    squareA += value ** 2;
    squareB += b[index]! ** 2;
  }
  return dot / Math.sqrt(squareA * squareB);
}
