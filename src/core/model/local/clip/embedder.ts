import { createHash } from 'node:crypto';
import { RequestProcess } from '../requestProcess';
import { Fault } from '../../../fault';
import { LastUsed } from '../../../lazily';
import { clipGraph, type ClipPrecision, type PictureEmbedding, type PictureRequest } from './clipFolder';

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
  private readonly process: RequestProcess<PictureRequest, PictureEmbedding>;
  /** By the picture's hash. */
  private readonly kept = new LastUsed<Float32Array>(MAX_KEPT);

  readonly precision: ClipPrecision;

  /**
   * @param script path of the built embedding.js
   * @param folder the one that `tandem download clip` fills
   * @throws {Fault} `model/no-folder`
   */
  constructor(script: string, folder: string) {
    this.precision = clipGraph(folder).precision;
    this.process = new RequestProcess({ script, folder, title: 'CLIP', inspect: 'TANDEM_INSPECT_EMBEDDING' });
  }

  /**
   * @param png 8 bits, three or four channels; undefined for the black square that stands for no page
   * @returns Shape: (512,), not normalized
   * @throws {Fault} `model/damaged-folder`, `model/foreign-folder`, `model/inference-ended`
   */
  async embed(png: Buffer | undefined): Promise<Float32Array> {
    const key = png === undefined ? '' : createHash('sha256').update(png).digest('hex');
    return this.kept.get(key, () => this.ask(png));
  }

  close(): Promise<void> {
    return this.process.close();
  }

  private async ask(png: Buffer | undefined): Promise<Float32Array> {
    return Float32Array.from(await this.process.ask(png?.toString('base64') ?? null));
  }
}
