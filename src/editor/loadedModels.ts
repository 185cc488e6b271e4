import { messageOf } from '../core/fault';
import type { LocalFolder } from '../core/model/local/folder';
import type { LocalModel } from '../core/model/local/model';
import type { Generation, Model } from '../core/model/model';
import type { LocalPlace } from './localModels';

/** A model that was never asked for is not loaded. */
export type LocalState =
  | { readonly kind: 'not-loaded' }
  | { readonly kind: 'loading' }
  | {
      readonly kind: 'ready';
      readonly provider: string;
      readonly notes: readonly string[];
      readonly processId: number | undefined;
    }
  /** One sentence with the failure, its place and the remedy. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface ModelStatus {
  readonly state: LocalState;
  /** Absent when they are no model. */
  readonly files?: LocalFolder;
  /** Of its last message; the model may be closed by now. */
  readonly tokensPerSecond?: number;
}

/** Each model has a process of its own. */
type Runner = Pick<LocalModel, 'generate' | 'describe' | 'notes' | 'fingerprint' | 'processId' | 'close'>;

interface Loaded {
  readonly runner: Promise<Runner>;
  state: LocalState;
  writing: number;
  /** No setting names it any more: it is closed after its last message. */
  retired: boolean;
}

/** Local models by folder. Each is loaded on first use, and closed when no setting names it any more. */
export class LoadedModels {
  private readonly loaded = new Map<string, Loaded>();
  private readonly speeds = new Map<string, number>();
  /** By folder; an Error says why its files are no model. */
  private readonly seen = new Map<string, LocalFolder | Error>();

  constructor(
    private readonly open: (place: LocalPlace) => Promise<Runner>,
    private readonly changed: () => void,
    private readonly report: (error: unknown) => void,
  ) {}

  async look(folder: string): Promise<ModelStatus> {
    const files = await this.files(folder);
    const tokensPerSecond = this.speeds.get(folder);
    const idle: LocalState =
      files instanceof Error ? { kind: 'failed', reason: messageOf(files) } : { kind: 'not-loaded' };
    return {
      state: this.loaded.get(folder)?.state ?? idle,
      ...(files instanceof Error ? {} : { files }),
      ...(tokensPerSecond === undefined ? {} : { tokensPerSecond }),
    };
  }

  /** @throws {Fault} when the folder holds no model that can play here */
  async check(folder: string): Promise<void> {
    this.seen.delete(folder);
    const files = await this.files(folder);
    if (files instanceof Error) throw files;
  }

  /** A model that failed or has other files by now is reloaded on its next use. */
  async lookAgain(): Promise<void> {
    this.seen.clear();
    await Promise.all(
      [...this.loaded].map(async ([folder, entry]) => {
        if (await this.isOutdated(folder, entry)) await this.closeIfIdle(folder, entry);
      }),
    );
  }

  model(place: LocalPlace): Model {
    this.take(place);
    return {
      name: place.spec,
      forcesOpening: () => Promise.resolve(true),
      generate: (...request) => this.generate(place, request),
    };
  }

  /** Closes the others after the message that they are writing. */
  async keep(folders: readonly string[]): Promise<void> {
    const others = [...this.loaded].filter(([folder]) => !folders.includes(folder));
    for (const [folder, entry] of this.loaded) entry.retired = !folders.includes(folder);
    await Promise.all(others.map(([folder, entry]) => this.closeIfIdle(folder, entry)));
  }

  /** Breaks off messages that are being written. */
  async close(): Promise<void> {
    await Promise.all([...this.loaded].map(([folder, entry]) => this.end(folder, entry)));
  }

  private take(place: LocalPlace): Loaded {
    const there = this.loaded.get(place.folder);
    if (there !== undefined && there.state.kind !== 'failed') {
      there.retired = false;
      return there;
    }
    if (there !== undefined) void this.end(place.folder, there);
    const entry: Loaded = {
      runner: this.open(place),
      state: { kind: 'loading' },
      writing: 0,
      retired: false,
    };
    this.loaded.set(place.folder, entry);
    this.changed();
    void this.ask(place.folder, entry);
    return entry;
  }

  private async generate(place: LocalPlace, request: Parameters<Model['generate']>): Promise<Generation> {
    const entry = this.take(place);
    entry.writing += 1;
    try {
      return await (await entry.runner).generate(...request);
    } finally {
      entry.writing -= 1;
      if (entry.retired) await this.closeIfIdle(place.folder, entry);
      // A dead process may not have come back.
      else void this.ask(place.folder, entry);
    }
  }

  private async isOutdated(folder: string, { state, runner }: Loaded): Promise<boolean> {
    if (state.kind !== 'ready') return state.kind === 'failed';
    const files = await this.files(folder);
    return files instanceof Error || files.fingerprint !== (await runner).fingerprint;
  }

  private async files(folder: string): Promise<LocalFolder | Error> {
    const known = this.seen.get(folder);
    if (known !== undefined) return known;
    const { readLocalFolder } = await import('../core/model/local/folder');
    let files: LocalFolder | Error;
    try {
      files = readLocalFolder(folder);
    } catch (error) {
      files = error instanceof Error ? error : new Error(messageOf(error));
    }
    this.seen.set(folder, files);
    return files;
  }

  private async ask(folder: string, entry: Loaded): Promise<void> {
    const isClosed = (): boolean => this.loaded.get(folder) !== entry;
    let state: LocalState;
    try {
      const runner = await entry.runner;
      // A closed model would start its process again to answer.
      if (isClosed()) return;
      const { provider, tokensPerSecond } = await runner.describe();
      if (tokensPerSecond !== undefined) this.speeds.set(folder, tokensPerSecond);
      state = { kind: 'ready', provider, notes: runner.notes, processId: runner.processId };
    } catch (error) {
      state = { kind: 'failed', reason: messageOf(error) };
      if (!isClosed()) this.report(error);
    }
    if (isClosed()) return;
    entry.state = state;
    this.changed();
  }

  private async closeIfIdle(folder: string, entry: Loaded): Promise<void> {
    if (entry.writing === 0) await this.end(folder, entry);
  }

  private async end(folder: string, entry: Loaded): Promise<void> {
    if (this.loaded.get(folder) === entry) this.loaded.delete(folder);
    this.changed();
    try {
      // A failure to open was reported, and leaves nothing to close.
      await entry.runner.then(
        (runner) => runner.close(),
        () => undefined,
      );
    } catch (error) {
      this.report(error);
    }
  }
}
