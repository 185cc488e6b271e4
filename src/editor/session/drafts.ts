import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../../core/fault';
import { lazily } from '../../core/lazily';
import type { Draft } from '../../../webview/session/protocol';
import { ifThere, writeAtomically } from '../../core/trajectory/files';

const draftSchema = lazily((): z.ZodType<Draft> =>
  z.object({
    text: z.string(),
    suggestion: z.object({ text: z.string(), by: z.string(), replaced: z.string() }).exactOptional(),
  }),
);

/**
 * Replies that were begun and not sent, one small file for each dialogue. The editor's own memory of a panel is written
 * only now and then, and a window that closes in between would lose words.
 */
export class Drafts {
  /** Writes of one draft happen one after the other. */
  private queue: Promise<void> = Promise.resolve();

  /**
   * @param folder made when it is first needed; undefined: no folder is open, nothing is kept
   * @param report told of a draft that cannot be read
   */
  constructor(
    private readonly folder: string | undefined,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Empty when there is none. One that cannot be read is reported, and keeps nobody from the dialogue. */
  async read(episode: string): Promise<Draft> {
    if (this.folder === undefined) return { text: '' };
    const file = this.file(this.folder, episode);
    try {
      const text = await ifThere(() => readFile(file, 'utf8'));
      return text === undefined ? { text: '' } : draftSchema().parse(JSON.parse(text));
    } catch (error) {
      const sentence = `The draft in ${file} cannot be read, so the composer begins empty: ${messageOf(error)}`;
      this.report(new Fault('session/unreadable-draft', sentence, { cause: error }));
      return { text: '' };
    }
  }

  /** An empty draft is removed. */
  async write(episode: string, draft: Draft): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    const file = this.file(folder, episode);
    const written = this.queue.then(async () => {
      if (draft.text === '') return rm(file, { force: true });
      await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify(draft)));
    });
    // The next write is tried whatever became of this one.
    this.queue = written.catch(() => undefined);
    return written;
  }

  /** Removes what was begun, but for the dialogues to keep. */
  async remove(isKept: (episode: string) => boolean): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    const removed = this.queue.then(async () => {
      for (const name of (await ifThere(() => readdir(folder))) ?? []) {
        if (!isKept(decodeURIComponent(path.parse(name).name)))
          await rm(path.join(folder, name), { force: true });
      }
    });
    this.queue = removed.catch(() => undefined);
    return removed;
  }

  /** An episode's name comes from the log, and a log may come from anywhere. */
  private file(folder: string, episode: string): string {
    return path.join(folder, `${encodeURIComponent(episode).replaceAll('.', '%2E')}.json`);
  }
}
