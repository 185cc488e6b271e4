import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { suggested, type Draft, type Suggestion } from '../../../webview/session/protocol';
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
  /** What happens to the files happens one after the other. */
  private queue: Promise<void> = Promise.resolve();
  /** The newest words of each dialogue that are not on the disk yet. */
  private readonly unsaved = new Map<string, Draft>();
  /** Dialogues whose newest words will be saved when it is their turn. */
  private readonly waiting = new Set<string>();

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
    return this.unsaved.get(episode) ?? this.saved(episode);
  }

  /** An empty draft is removed. Of those that come faster than the disk is, only the last is saved. */
  async write(episode: string, draft: Draft): Promise<void> {
    if (this.folder === undefined) return;
    this.unsaved.set(episode, draft);
    if (this.waiting.has(episode)) return;
    this.waiting.add(episode);
    return this.enqueue(() => this.save(episode));
  }

  /** The simulator has drafted a reply, whoever looks at it now. */
  async suggest(episode: string, suggestion: Suggestion): Promise<void> {
    const kept = await this.read(episode);
    await this.write(episode, suggested(this.unsaved.get(episode) ?? kept, suggestion));
  }

  /** Removes what was begun, but for the dialogues to keep. */
  async remove(isKept: (episode: string) => boolean): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    return this.enqueue(async () => {
      for (const episode of this.unsaved.keys()) if (!isKept(episode)) this.unsaved.delete(episode);
      for (const name of (await ifThere(() => readdir(folder))) ?? []) {
        if (!isKept(decodeURIComponent(path.parse(name).name)))
          await rm(path.join(folder, name), { force: true });
      }
    });
  }

  private async saved(episode: string): Promise<Draft> {
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

  private async save(episode: string): Promise<void> {
    this.waiting.delete(episode);
    const draft = this.unsaved.get(episode);
    if (draft === undefined || this.folder === undefined) return;
    const file = this.file(this.folder, episode);
    if (draft.text === '') await rm(file, { force: true });
    else await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify(draft)));
    if (this.unsaved.get(episode) === draft) this.unsaved.delete(episode);
  }

  private enqueue(what: () => Promise<void>): Promise<void> {
    const done = this.queue.then(what);
    // The next is tried whatever became of this one.
    this.queue = done.catch(() => undefined);
    return done;
  }

  /** An episode's name comes from the log, and a log may come from anywhere. */
  private file(folder: string, episode: string): string {
    return path.join(folder, `${encodeURIComponent(episode).replaceAll('.', '%2E')}.json`);
  }
}
