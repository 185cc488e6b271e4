import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { suggested, type Draft, type Suggestion } from '../../../webview/session/protocol';
import { MB, readText } from '../../core/regularFile';
import { MAX_PINS, pinSchema } from '../../core/trajectory/event';
import { ifThere, writeAtomically } from '../../core/trajectory/files';

const draftSchema = lazily((): z.ZodType<Draft> =>
  z.object({
    text: z.string(),
    suggestion: z.object({ text: z.string(), by: z.string(), replaced: z.string() }).exactOptional(),
    pins: z.array(pinSchema).max(MAX_PINS).readonly().exactOptional(),
    isAnswer: z.literal(true).exactOptional(),
  }),
);

/** Unsent replies. A window that closes before the editor has written its own memory of a panel would lose words. */
export class Drafts {
  private queue: Promise<void> = Promise.resolve();
  private readonly unsaved = new Map<string, Draft>();
  private readonly waiting = new Set<string>();

  /** @param folder made on first use; undefined when no folder is open: then nothing is kept */
  constructor(
    private readonly folder: string | undefined,
    private readonly report: (error: unknown) => void,
  ) {}

  /** A draft that cannot be read is reported and counts as empty, so that it does not block the dialogue. */
  async read(episode: string): Promise<Draft> {
    return this.unsaved.get(episode) ?? this.saved(episode);
  }

  /** Saves a draft; an empty one is removed. When drafts come faster than the disk writes, only the last is saved. */
  async write(episode: string, draft: Draft): Promise<void> {
    if (this.folder === undefined) return;
    this.unsaved.set(episode, draft);
    if (this.waiting.has(episode)) return;
    this.waiting.add(episode);
    return this.enqueue(() => this.save(episode));
  }

  /** Keeps a reply that the simulator has drafted, whoever looks at it now. */
  async suggest(episode: string, suggestion: Suggestion): Promise<void> {
    const kept = await this.read(episode);
    await this.write(episode, suggested(this.unsaved.get(episode) ?? kept, suggestion));
  }

  /** Removes a draft whose reply is in the log, unless the person has written something else since. */
  async forget(episode: string, { text }: Draft): Promise<void> {
    if (this.folder === undefined) return;
    return this.enqueue(async () => {
      const saved = await this.read(episode);
      if ((this.unsaved.get(episode) ?? saved).text !== text) return;
      this.unsaved.set(episode, { text: '' });
      await this.save(episode);
    });
  }

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
      const text = await ifThere(() => readText(file, 16 * MB));
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
    else await writeAtomically(file, JSON.stringify(draft));
    if (this.unsaved.get(episode) === draft) this.unsaved.delete(episode);
  }

  private enqueue(what: () => Promise<void>): Promise<void> {
    const done = this.queue.then(what);
    // The next one is tried whatever became of this one.
    this.queue = done.catch(() => undefined);
    return done;
  }

  /** Encodes the id of a dialogue as a file name: it comes from the log, and a log may come from anywhere. */
  private file(folder: string, episode: string): string {
    return path.join(folder, `${encodeURIComponent(episode).replaceAll('.', '%2E')}.json`);
  }
}
