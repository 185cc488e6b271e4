import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { listFiles } from '@huggingface/hub';
import { parquetMetadataAsync, parquetReadObjects, type AsyncBuffer, type FileMetaData } from 'hyparquet';
import * as z from 'zod';
import { Fault, messageOf } from '../fault';
import { MB, readBytes } from '../regularFile';
import type { HubFiles, RowRange } from './downloads';
import { isCommit, keepCommit, HubTransfer, type Downloaded, type DownloadOptions } from './hubTransfer';
import { HubFailure, type HubConnection } from './hub';
import { PartialFile } from './partial';

/** 10,000 rows have about 16 MB. */
const MAX_FILE_BYTES = 512 * MB;

const columns = ['text', 'llm_generated_idea'];

const rowSchema = z.object({ text: z.string(), llm_generated_idea: z.string() });

/** WebSight's pages take their pictures from here: a size and a word. */
const PICTURE = /https:\/\/source\.unsplash\.com\/random\/(\d+)x(\d+)\/?(?:\?\w+)?/g;

/**
 * As ColBench's published rows have it: one picture, of the size that was asked for. What follows the word's first part
 * stays, as there (`/300/200-estate`).
 */
export const withPublishedPictures = (html: string): string =>
  html.replace(PICTURE, 'https://picsum.photos/id/48/$1/$2');

/**
 * Takes rows out of Parquet files, of which it fetches only the end, with the directory, and two columns. Whole rows
 * are on the disk after each group of them, and the next call continues after the last one.
 */
export class RowTransfer extends HubTransfer {
  protected readonly unit = 'rows';
  private readonly partial = new PartialFile(this.file);
  private done = 0;
  private fetched = 0;

  constructor(
    source: HubFiles,
    name: string,
    options: DownloadOptions,
    private readonly rows: RowRange,
  ) {
    super(source, name, options);
  }

  protected get received(): number {
    return this.done;
  }

  private get total(): number {
    return this.rows.end - this.rows.first;
  }

  protected async attempt(connection: HubConnection): Promise<Downloaded> {
    // Every file of a dataset comes with its commit, and the card is the smallest.
    await this.remote(connection, 'README.md');
    const there = await this.alreadyThere();
    if (there !== undefined) return there;
    await this.continue();
    if (isCommit(this.revision)) await keepCommit(this.options.folder, this.source.repository, this.revision);
    this.report();
    let first = 0;
    for (const path of await this.parquetFiles(connection)) {
      if (this.done === this.total) break;
      first += await this.takeFrom(path, first, connection);
    }
    if (this.done < this.total) throw this.tooFewRows(first);
    await this.partial.complete();
    return this.downloaded((await stat(this.file)).size, false);
  }

  protected close(): Promise<void> {
    return this.partial.close();
  }

  protected restart(failure: HubFailure): Promise<void> {
    throw new Fault(
      'task/hub-protocol',
      `${this.hubUrl} does not give parts of a file (${failure.message}), and whole ones would be gigabytes.`,
      { cause: failure },
    );
  }

  private async alreadyThere(): Promise<Downloaded | undefined> {
    const size = await stat(this.file).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) return undefined;
    // Only a finished file has its name, and the folder says of which commit it is.
    if (this.kept !== undefined && linesOf(await readBytes(this.file, MAX_FILE_BYTES)).count === this.total)
      return this.downloaded(size, true);
    const said = `${this.file} exists and is not what this download makes`;
    throw new Fault('task/file-exists', `${said}; move it away or choose another folder.`);
  }

  private async continue(): Promise<void> {
    const etag = isCommit(this.revision) ? this.revision : randomUUID();
    const opened = await this.partial.open({ etag, size: MAX_FILE_BYTES });
    if (opened === 'other-version')
      this.notice('The partial file is of another version, so the download starts over.');
    const lines = linesOf(await readBytes(`${this.file}.part`, MAX_FILE_BYTES));
    await this.partial.truncate(lines.end);
    this.done = lines.count;
  }

  /** In the order of their names. */
  private async parquetFiles(connection: HubConnection): Promise<string[]> {
    const paths: string[] = [];
    for await (const { type, path } of listFiles({
      repo: this.source.repository,
      path: this.rows.folder,
      revision: this.revision,
      hubUrl: this.hubUrl,
      fetch: connection.fetch,
      accessToken: this.options.accessToken,
    }))
      if (type === 'file' && path.endsWith('.parquet')) paths.push(path);
    return paths.sort();
  }

  /**
   * @param first number of the file's first row
   * @returns the number of its rows
   */
  private async takeFrom(path: string, first: number, connection: HubConnection): Promise<number> {
    const { blob } = await this.remote(connection, path);
    const file = this.bufferOf(blob, connection);
    try {
      const metadata = await parquetMetadataAsync(file);
      let start = 0;
      for (const { num_rows } of metadata.row_groups) {
        const end = start + Number(num_rows);
        const rowStart = Math.max(this.rows.first + this.done - first, start);
        const rowEnd = Math.min(this.rows.end - first, end);
        if (rowStart < rowEnd) await this.take(file, metadata, { rowStart, rowEnd }, first);
        start = end;
      }
      return start;
    } catch (error) {
      this.options.signal?.throwIfAborted();
      if (error instanceof HubFailure || error instanceof Fault || isOfDisk(error)) throw error;
      throw new Fault(
        'task/hub-protocol',
        `${path} of ${this.hubUrl} is not a Parquet file with the columns ${columns.join(' and ')} (${messageOf(error)}).`,
        { cause: error },
      );
    }
  }

  private async take(
    file: AsyncBuffer,
    metadata: FileMetaData,
    range: { readonly rowStart: number; readonly rowEnd: number },
    first: number,
  ): Promise<void> {
    const rows = z.array(rowSchema).parse(await parquetReadObjects({ file, metadata, columns, ...range }));
    const lines = rows.map(({ text, llm_generated_idea }, index) =>
      JSON.stringify({
        kind: 'page',
        problem_description: llm_generated_idea,
        ground_truth: withPublishedPictures(text),
        source: `HuggingFaceM4/WebSight ${this.rows.folder}, row ${first + range.rowStart + index}`,
        license: 'CC-BY-4.0',
      }),
    );
    this.options.signal?.throwIfAborted();
    await this.partial.append(Buffer.from(`${lines.join('\n')}\n`));
    this.done += rows.length;
    this.report();
  }

  private bufferOf(blob: Blob, connection: HubConnection): AsyncBuffer {
    const read = async (start: number, end?: number): Promise<ArrayBuffer> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of connection.read(blob.slice(start, end).stream())) {
        chunks.push(chunk);
        this.fetched += chunk.length;
        this.report();
      }
      const bytes = Buffer.concat(chunks);
      if (bytes.length < (end ?? blob.size) - start)
        throw new HubFailure('lost', 'a part of the file ended too early');
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    };
    return {
      byteLength: blob.size,
      slice: (start, end) => {
        const part = read(start, end);
        // hyparquet asks for several at once and hears only of the first that fails.
        part.catch(() => undefined);
        return part;
      },
    };
  }

  private tooFewRows(found: number): Fault {
    const { folder, first, end } = this.rows;
    return new Fault(
      'task/hub-protocol',
      `${folder} of ${this.source.repository} has ${found} rows, and rows ${first} to ${end - 1} are wanted; look there whether they were moved.`,
    );
  }

  private downloaded(bytes: number, alreadyThere: boolean): Downloaded {
    const told = { file: this.file, bytes, alreadyThere };
    return isCommit(this.revision) ? { ...told, commit: this.revision } : told;
  }

  private report(): void {
    this.options.onProgress?.({ received: this.done, total: this.total, bytes: this.fetched });
  }
}

/** Number of whole lines, and where the last one ends. */
function linesOf(bytes: Buffer): { readonly count: number; readonly end: number } {
  let count = 0;
  let end = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, end)) {
    count++;
    end = at + 1;
  }
  return { count, end };
}

/** An error of the operating system. */
const isOfDisk = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
