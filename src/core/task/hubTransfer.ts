import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { downloadFile, fileDownloadInfo, HUB_URL, InvalidApiResponseFormatError } from '@huggingface/hub';
import { Fault, messageOf } from '../fault';
import { withoutEnd } from '../text';
import { HubConnection, HubFailure } from './hub';
import { type Verification, type Version, readJson } from './partial';
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod';

const MAIN = 'main';

export interface DownloadOptions {
  /** The files keep the paths that they have in the repository. All files of a folder are of one commit. */
  readonly folder: string;
  /** A commit, tag or branch; by default the commit of what is in the folder, or the newest if the folder is new. */
  readonly revision?: string;
  /** Called before the first request; nothing is fetched unless it returns true. */
  readonly acceptLicence: (notice: string) => Promise<boolean>;
  readonly onProgress?: (progress: DownloadProgress) => void;
  /** Called with one sentence for each unusual event that is handled: a repeated attempt, a fresh start. */
  readonly onNotice?: (sentence: string) => void;
  readonly signal?: AbortSignal;
  readonly hubUrl?: string;
  /** A Hugging Face token (`hf_…`); the published files need none. */
  readonly accessToken?: string;
  /** Milliseconds before the first repeated attempt; doubles with each further one. */
  readonly retryDelay?: number;
}

interface DownloadProgress {
  /** Bytes on the disk and of the whole file; of a download of rows, their numbers. */
  readonly received: number;
  readonly total: number;
  /** Bytes that this call has fetched; only of a download of rows. */
  readonly bytes?: number;
}

export interface Downloaded {
  readonly file: string;
  readonly bytes: number;
  /** Absent for rows, which are taken out of larger files. */
  readonly verified?: Verification;
  readonly commit?: string;
  /** True when the file was there already and is the published one. */
  readonly alreadyThere: boolean;
}

/** Number of attempts in a row that bring nothing new after which the download is given up. */
const MAX_FAILURES = 5;
/** Longest wait that a server may ask for; beyond it, the person decides when to call again. */
const MAX_WAIT_MS = 5 * 60_000;

interface RemoteFile {
  /** Its parts are read by ranges. */
  readonly blob: Blob;
  readonly version: Version;
}

/**
 * Makes one file of a folder from a repository of the hub: attempts that are repeated while they bring something new,
 * all of one commit, with a sentence for each way to fail.
 */
export abstract class HubTransfer {
  protected readonly file: string;
  protected readonly hubUrl: string;
  protected kept: string | undefined;
  /** The commit, as soon as it is known; before that, the revision that is asked for. */
  protected revision = MAIN;
  /** Path in the repository that was asked for last. */
  private path: string;

  /** @param name of the file in the folder, its parts separated by `/` */
  constructor(
    protected readonly source: { readonly repository: string; readonly revision?: string },
    protected readonly name: string,
    protected readonly options: DownloadOptions,
  ) {
    this.file = join(options.folder, ...name.split('/'));
    this.path = name;
    this.hubUrl = withoutEnd(options.hubUrl ?? HUB_URL, '/');
  }

  /** What an interrupted call keeps: bytes or rows. */
  protected abstract get received(): number;
  protected abstract readonly unit: 'bytes' | 'rows';

  protected abstract attempt(connection: HubConnection): Promise<Downloaded>;
  /** Called after each attempt. */
  protected abstract close(): Promise<void>;
  /** Called when the server does not continue where it was asked to. */
  protected abstract restart(failure: HubFailure): Promise<void>;

  async run(): Promise<Downloaded> {
    const { source, options } = this;
    this.kept = await commitOfFolder(options.folder, source.repository);
    this.revision = options.revision ?? this.kept ?? source.revision ?? MAIN;
    let furthest = 0;
    for (let failures = 0; ;) {
      const connection = new HubConnection(options.signal);
      try {
        return await this.attempt(connection).finally(() => connection.close());
      } catch (error) {
        this.options.signal?.throwIfAborted();
        if (!(error instanceof HubFailure)) throw this.localFault(error);
        failures = this.received > furthest ? 1 : failures + 1;
        furthest = Math.max(furthest, this.received);
        if (!error.passes || failures >= MAX_FAILURES) throw this.hubFault(error, failures);
        if (error.kind === 'no-range') await this.restart(error);
        else await this.pause(error, failures);
      } finally {
        await this.close();
      }
    }
  }

  protected async remote(connection: HubConnection, path = this.name): Promise<RemoteFile> {
    this.path = path;
    const request = {
      repo: this.source.repository,
      path,
      hubUrl: this.hubUrl,
      fetch: connection.fetch,
      accessToken: this.options.accessToken,
    };
    const asked = this.revision;
    const info = await fileDownloadInfo({ ...request, revision: asked });
    if (!info) throw new HubFailure('refused', '404 Not Found', { status: 404 });
    if (connection.isPage) throw new InvalidApiResponseFormatError('Expected the file, got a web page');
    // From here on this commit is requested, even when the hub moves on meanwhile.
    if (connection.commit !== undefined && isCommit(connection.commit)) this.revision = connection.commit;
    if (this.kept !== undefined && this.revision !== this.kept) throw this.otherCommit(this.kept);
    const url = info.url.replace(`/resolve/${encodeURIComponent(asked)}/`, `/resolve/${this.revision}/`);
    // Xet is off: it rebuilds chunks from several requests, and only a plain range can be continued.
    const blob = await downloadFile({ ...request, downloadInfo: { ...info, url }, xet: false });
    if (!blob) throw new HubFailure('refused', '404 Not Found', { status: 404 });
    const etag = (connection.linkedEtag ?? info.etag).replace(/^W\//, '').replaceAll('"', '');
    return { blob, version: { etag, size: info.size } };
  }

  private otherCommit(kept: string): Fault {
    const { revision = '', folder } = this.options;
    const other = isCommit(revision) ? `not of ${revision}` : `and ${revision} is ${this.revision}`;
    return new Fault(
      'task/other-commit',
      `${folder} holds files of the commit ${kept}, ${other}; choose another folder for it.`,
    );
  }

  private async pause(failure: HubFailure, failures: number): Promise<void> {
    const { retryDelay = 1000, signal } = this.options;
    const { retryAfterMs = 0 } = failure.details;
    if (retryAfterMs > MAX_WAIT_MS) throw this.hubFault(failure, failures);
    const delay = Math.max(retryAfterMs, retryDelay * 2 ** (failures - 1));
    this.notice(`${this.hubUrl}: ${failure.message}; next attempt in ${Math.ceil(delay / 1000)} s.`);
    // An abort rejects with an error of the timer's own; the signal's reason is what the caller gets.
    await wait(delay, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }

  private hubFault(failure: HubFailure, failures: number): Fault {
    const { status, retryAfterMs } = failure.details;
    const page = `${this.hubUrl}/${this.source.repository}`;
    const options = { cause: failure };
    if (status === 401 || status === 403) {
      const remedy = `open ${page}, accept what it asks for, and use an access token of that account`;
      const said = `${this.hubUrl} does not give out ${this.path} (${failure.message})`;
      return new Fault('task/hub-forbidden', `${said}: ${remedy}.`, options);
    }
    if (status === 404) {
      const at = this.revision === MAIN ? '' : ` at ${this.revision}`;
      const said = `${page} has no file ${this.path}${at} (${failure.message})`;
      const remedy =
        this.kept === undefined
          ? 'look there whether it was moved'
          : 'choose another folder to get what is there now';
      return new Fault('task/hub-no-file', `${said}; ${remedy}.`, options);
    }
    if (status !== undefined) {
      const when = retryAfterMs ? ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s` : '';
      const said = `${this.hubUrl} answered ${failure.message}${when}`;
      return new Fault('task/hub-refused', `${said}; try again later, ${this.keeps()}.`, options);
    }
    const said = `${this.hubUrl} cannot be reached (${failure.message}, ${failures} attempts in a row)`;
    return new Fault('task/hub-unreachable', `${said}; check the network, ${this.keeps()}.`, options);
  }

  private keeps(): string {
    const { received, unit } = this;
    return received > 0
      ? `the next download continues after ${received.toLocaleString('en')} ${unit}`
      : 'what has arrived is kept';
  }

  private localFault(error: unknown): unknown {
    if (error instanceof InvalidApiResponseFormatError) {
      const said = `${this.hubUrl} does not answer as the Hugging Face Hub does (${error.message})`;
      return new Fault('task/hub-protocol', `${said}; check its address, or sign in to the network.`, {
        cause: error,
      });
    }
    if (error instanceof Fault || !(error instanceof Error)) return error;
    const code = 'code' in error && 'syscall' in error ? error.code : undefined;
    if (code === 'ENOSPC' || code === 'EDQUOT') return this.diskFull(undefined, error);
    if (code === undefined) return error;
    const said = `${this.file} cannot be written: ${messageOf(error)}`;
    return new Fault('task/not-written', `${said}; choose a folder that you may write to.`, { cause: error });
  }

  protected diskFull(missing?: number, cause?: unknown): Fault {
    const need = missing === undefined ? 'some room' : `${missing.toLocaleString('en')} bytes`;
    return new Fault(
      'task/disk-full',
      `The disk of ${dirname(this.file)} is full: free ${need} and start the download again, ${this.keeps()}.`,
      { cause },
    );
  }

  protected notice(sentence: string): void {
    this.options.onNotice?.(sentence);
  }
}

const SOURCE_FILE = 'source.json';

const commitPattern = /^[0-9a-f]{40}$/;

const schema = z.object({
  version: z.literal(1),
  dataset: z.string(),
  commit: z.string().regex(commitPattern),
});

/** A full commit always stands for the same files. */
export const isCommit = (revision: string): boolean => commitPattern.test(revision);

/** The folder's file names a repository without its kind. */
const nameOf = (repository: string): string => repository.replace(/^datasets\//, '');

/** @throws {Fault} `task/bad-source` when the folder's file says something else */
async function commitOfFolder(folder: string, repository: string): Promise<string | undefined> {
  const file = join(folder, SOURCE_FILE);
  const content = await readJson(file);
  if (content === undefined) return undefined;
  const dataset = nameOf(repository);
  const read = schema.safeParse(content);
  if (read.success && read.data.dataset === dataset) return read.data.commit;
  throw new Fault(
    'task/bad-source',
    `${file} does not say of which commit of ${dataset} the files beside it are; choose another folder, or remove it.`,
  );
}

export async function keepCommit(folder: string, repository: string, commit: string): Promise<void> {
  const file = join(folder, SOURCE_FILE);
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`;
  await mkdir(folder, { recursive: true });
  try {
    const source: z.infer<typeof schema> = { version: 1, dataset: nameOf(repository), commit };
    await writeFile(unfinished, `${JSON.stringify(source, undefined, 2)}\n`);
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}
