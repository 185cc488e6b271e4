import { createHash } from 'node:crypto';
import { RequestProcess } from '../requestProcess';
import { Fault } from '../../../fault';
import { clipGraph, type ClipPrecision } from './clipFolder';
import type { PictureEmbedding, PictureRequest } from './protocol';

/** The wanted page's picture is compared with each draft of each dialogue of its task. */
const MAX_KEPT = 1024;

/**
 * Where CLIP is not needed for all that is played, its absence is said in the grade.
 * @returns undefined if the folder has no CLIP
 */
export function clipIfThere(script: string, folder: string): ClipEmbedder | undefined {
  try {
    return new ClipEmbedder(script, folder);
  } catch (error) {
    if (error instanceof Fault && error.code === 'model/no-folder') return undefined;
    throw error;
  }
}

/** CLIP in a process of its own, which starts with the first picture. */
export class ClipEmbedder {
  private process: RequestProcess<PictureRequest, PictureEmbedding> | undefined;
  /** By the picture's hash; the least recently used first. */
  private readonly kept = new Map<string, Promise<Float32Array>>();

  readonly precision: ClipPrecision;

  /**
   * @param script path of the built embedding.js
   * @param folder the one that `tandem download clip` fills
   * @throws {Fault} `model/no-folder`
   */
  constructor(
    private readonly script: string,
    private readonly folder: string,
  ) {
    this.precision = clipGraph(folder).precision;
  }

  /**
   * @param png 8 bits, three or four channels; undefined for the black square that stands for no page
   * @returns Shape: (512,), not normalized
   * @throws {Fault} `model/damaged-folder`, `model/foreign-folder`, `model/inference-ended`
   */
  async embed(png: Buffer | undefined): Promise<Float32Array> {
    const key = png === undefined ? '' : createHash('sha256').update(png).digest('hex');
    const embedding = this.kept.get(key) ?? this.ask(png);
    this.kept.delete(key);
    this.kept.set(key, embedding);
    if (this.kept.size > MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
    try {
      return await embedding;
    } catch (error) {
      this.kept.delete(key);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.process?.close();
  }

  private async ask(png: Buffer | undefined): Promise<Float32Array> {
    const { script, folder } = this;
    if (this.process === undefined || this.process.isOver)
      this.process = new RequestProcess({
        ...{ script, folder, title: 'CLIP', work: 'reads pictures with' },
        inspect: 'TANDEM_INSPECT_EMBEDDING',
      });
    return Float32Array.from(await this.process.ask(png?.toString('base64') ?? null));
  }
}
