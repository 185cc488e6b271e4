import { statfs, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { downloadFile, fileDownloadInfo, HUB_URL, InvalidApiResponseFormatError } from '@huggingface/hub';
import { Fault, messageOf } from '../fault';
import { licenceNotice, type HubFiles } from './downloads';
import { HubConnection, HubFailure, isHubToken } from './hub';
import { compareFile, PartialFile, readJson, type Verification, type Version } from './partial';
import { withoutEnd } from '../text';
import { randomBytes } from 'node:crypto';
import * as z from 'zod';

const MAIN = 'main';

export interface DownloadOptions {
  /** The files keep the paths that they have in the repository. All files of a folder are of one commit. */
  readonly folder: string;
  /** A commit, tag or branch; by default the commit of what is in the folder, or the newest if the folder is new. */
  readonly revision?: string;
  /** Called before the first request; nothing is fetched unless it returns true. */
  readonly acceptLicence: (notice: string) => Promise<boolean>;
  /** Called with the number of bytes on the disk, and with that of the whole file, for each file. */
  readonly onProgress?: (progress: { readonly received: number; readonly total: number }) => void;
  /** Called with one sentence for each unusual event that is handled: a repeated attempt, a fresh start. */
  readonly onNotice?: (sentence: string) => void;
  readonly signal?: AbortSignal;
  readonly hubUrl?: string;
  /** A Hugging Face token (`hf_…`); the published files need none. */
  readonly accessToken?: string;
  /** Milliseconds before the first repeated attempt; doubles with each further one. */
  readonly retryDelay?: number;
}

export interface Downloaded {
  readonly file: string;
  readonly bytes: number;
  readonly verified: Verification;
  readonly commit?: string;
  /** True when the file was there already and is the published one. */
  readonly alreadyThere: boolean;
}

/** Number of attempts in a row that bring nothing new after which the download is given up. */
const MAX_FAILURES = 5;
/** Longest wait that a server may ask for; beyond it, the person decides when to call again. */
const MAX_WAIT_MS = 5 * 60_000;

/**
 * Fetches files of the hub, one after the other. It can be interrupted at any moment, by `signal`, a lost connection or
 * the end of the process: `<name>.part` keeps what arrived and the next call continues there while the hub still has that
 * version. A file appears under its name only when it is complete and its hash (or size, without one) is the hub's. The
 * folder keeps the commit (`source.json`), and all later downloads into it are of that commit.
 *
 * @throws {Fault} `task/licence-declined`, `task/bad-token`, `task/file-exists`, `task/hub-*`, `task/disk-full`,
 * `task/not-written`, `task/download-damaged`, `task/bad-source`, `task/other-commit`
 * @throws the signal's reason when it is aborted
 */
export async function download(source: HubFiles, options: DownloadOptions): Promise<Downloaded[]> {
  const { signal, accessToken } = options;
  signal?.throwIfAborted();
  if (accessToken !== undefined && !isHubToken(accessToken)) {
    throw new Fault(
      'task/bad-token',
      'A Hugging Face access token begins with "hf_"; check the one that is set.',
    );
  }
  if (!(await options.acceptLicence(licenceNotice(source)))) {
    const message = `Nothing is downloaded: the license of ${source.files.join(', ')} was not accepted.`;
    throw new Fault('task/licence-declined', message);
  }
  const downloaded: Downloaded[] = [];
  for (const path of source.files) downloaded.push(await new Download(source, path, options).run());
  return downloaded;
}

class Download {
  private readonly file: string;
  private readonly partial: PartialFile;
  private readonly hubUrl: string;
  private kept: string | undefined;
  /** The commit, as soon as it is known; before that, the revision that is asked for. */
  private revision = MAIN;

  constructor(
    private readonly source: HubFiles,
    private readonly path: string,
    private readonly options: DownloadOptions,
  ) {
    this.file = join(options.folder, ...path.split('/'));
    this.partial = new PartialFile(this.file);
    this.hubUrl = withoutEnd(options.hubUrl ?? HUB_URL, '/');
  }

  async run(): Promise<Downloaded> {
    const { source, options } = this;
    this.kept = await commitOfFolder(options.folder, source.repository);
    this.revision = options.revision ?? this.kept ?? source.revision ?? MAIN;
    let furthest = 0;
    for (let failures = 0; ;) {
      try {
        return await this.attempt();
      } catch (error) {
        this.options.signal?.throwIfAborted();
        if (!(error instanceof HubFailure)) throw this.localFault(error);
        failures = this.partial.received > furthest ? 1 : failures + 1;
        furthest = Math.max(furthest, this.partial.received);
        if (!error.passes || failures >= MAX_FAILURES) throw this.hubFault(error, failures);
        if (error.kind === 'no-range') await this.restart(error);
        else await this.pause(error, failures);
      } finally {
        await this.partial.close();
      }
    }
  }

  private async attempt(): Promise<Downloaded> {
    const { signal, onProgress } = this.options;
    const connection = new HubConnection(signal);
    try {
      const { blob, version } = await this.remote(connection);
      const there = await this.alreadyThere(version);
      if (there === undefined) await this.open(version);
      if (isCommit(this.revision))
        await keepCommit(this.options.folder, this.source.repository, this.revision);
      if (there) return there;
      const { partial } = this;
      onProgress?.({ received: partial.received, total: version.size });
      if (partial.received < version.size) {
        for await (const chunk of connection.read(blob.slice(partial.received).stream())) {
          if (partial.received + chunk.length > version.size) throw await this.damaged(version);
          await partial.append(chunk);
          onProgress?.({ received: partial.received, total: version.size });
        }
      }
      if (partial.received < version.size) throw new HubFailure('lost', 'the file ended too early');
      return await this.finish(version);
    } finally {
      connection.close();
    }
  }

  private async remote(connection: HubConnection): Promise<{ blob: Blob; version: Version }> {
    const request = {
      repo: this.source.repository,
      path: this.path,
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

  private async alreadyThere(version: Version): Promise<Downloaded | undefined> {
    const verified = await compareFile(this.file, version, this.options.signal);
    if (verified === 'absent') return undefined;
    if (verified !== 'different') return this.downloaded(version, verified, true);
    const said = `${this.file} exists and is not the published file`;
    throw new Fault('task/file-exists', `${said}; move it away or choose another folder.`);
  }

  private async open(version: Version): Promise<void> {
    const opened = await this.partial.open(version);
    if (opened === 'other-version') {
      this.notice('The partial file is of another version, so the download starts over.');
    }
    const { bavail, bsize } = await statfs(dirname(this.file));
    const missing = version.size - this.partial.received;
    if (missing <= bavail * bsize) return;
    if (this.partial.received === 0) await this.partial.discard();
    throw this.diskFull(missing - bavail * bsize);
  }

  private async finish(version: Version): Promise<Downloaded> {
    const verified = await this.partial.verify(version, this.options.signal);
    if (verified === 'absent' || verified === 'different') throw await this.damaged(version);
    await this.partial.complete();
    return this.downloaded(version, verified, false);
  }

  private downloaded({ size }: Version, verified: Verification, alreadyThere: boolean): Downloaded {
    const told = { file: this.file, bytes: size, verified, alreadyThere };
    if (isCommit(this.revision)) return { ...told, commit: this.revision };
    this.notice(`${this.hubUrl} does not say which commit it gave; a later download may be of another.`);
    return told;
  }

  private async damaged(version: Version): Promise<Fault> {
    await this.partial.discard();
    return new Fault(
      'task/download-damaged',
      `${this.path} differs from what ${this.hubUrl} announced (etag ${version.etag}, ${version.size} bytes) and was removed. Start the download again.`,
    );
  }

  private async restart(failure: HubFailure): Promise<void> {
    await this.partial.discard();
    this.notice(`${this.path} starts anew: ${failure.message}.`);
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
    const { received } = this.partial;
    return received > 0
      ? `the next download continues after ${received.toLocaleString('en')} bytes`
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

  private diskFull(missing?: number, cause?: unknown): Fault {
    const need = missing === undefined ? 'some room' : `${missing.toLocaleString('en')} bytes`;
    return new Fault(
      'task/disk-full',
      `The disk of ${dirname(this.file)} is full: free ${need} and start the download again, ${this.keeps()}.`,
      { cause },
    );
  }

  private notice(sentence: string): void {
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
const isCommit = (revision: string): boolean => commitPattern.test(revision);

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

async function keepCommit(folder: string, repository: string, commit: string): Promise<void> {
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
