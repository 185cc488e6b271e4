import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Draft } from '../../../webview/session/protocol';

const draftSchema: z.ZodType<Draft> = z.object({
  text: z.string(),
  suggestion: z.object({ text: z.string(), by: z.string(), replaced: z.string() }).exactOptional(),
});

/**
 * Replies that were begun and not sent, one small file for each dialogue. The editor's own memory of a panel is written
 * only now and then, and a window that closes in between would lose words.
 */
export class Drafts {
  /** Writes of one draft happen one after the other. */
  private queue: Promise<void> = Promise.resolve();

  /** @param folder made when it is first needed; undefined: no folder is open, nothing is kept */
  constructor(private readonly folder: string | undefined) {}

  /** Empty when there is none. */
  async read(episode: string): Promise<Draft> {
    if (this.folder === undefined) return { text: '' };
    try {
      return draftSchema.parse(JSON.parse(await readFile(this.file(this.folder, episode), 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { text: '' };
      throw error;
    }
  }

  /** An empty draft is removed. */
  async write(episode: string, draft: Draft): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    const file = this.file(folder, episode);
    const written = this.queue.then(async () => {
      if (draft.text === '') return rm(file, { force: true });
      await mkdir(folder, { recursive: true });
      await writeFile(file, JSON.stringify(draft));
    });
    // The next write is tried whatever became of this one.
    this.queue = written.catch(() => undefined);
    return written;
  }

  /** An episode's name comes from the log, and a log may come from anywhere. */
  private file(folder: string, episode: string): string {
    return path.join(folder, `${encodeURIComponent(episode).replaceAll('.', '%2E')}.json`);
  }
}
