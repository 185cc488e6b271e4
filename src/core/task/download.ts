import { statfs, writeFile } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { Fault } from '../fault';
import { licenceNotice, type HubFiles } from './downloads';
import { isCommit, keepCommit, HubTransfer, type Downloaded, type DownloadOptions } from './hubTransfer';
import { HubFailure, isHubToken, type HubConnection } from './hub';
import { compareFile, PartialFile, type Verification, type Version } from './partial';
import { RowTransfer } from './rowTransfer';

export type { Downloaded, DownloadOptions } from './hubTransfer';

/**
 * Fetches files of the hub, one after the other. It can be interrupted at any moment, by `signal`, a lost connection or
 * the end of the process: `<name>.part` keeps what arrived and the next call continues there while the hub still has that
 * version. A file appears under its name only when it is complete and its hash (or size, without one) is the hub's. The
 * folder keeps the commit (`source.json`), and all later downloads into it are of that commit. `licence-<name>.txt` keeps
 * the notice that was accepted.
 *
 * @throws {Fault} `task/licence-declined`, `task/bad-token`, `task/file-exists`, `task/hub-*`, `task/disk-full`,
 * `task/not-written`, `task/download-damaged`, `task/bad-source`, `task/other-commit`
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
  const notice = licenceNotice(source);
  if (!(await options.acceptLicence(notice))) {
    const message = `Nothing is downloaded: the license of ${source.files.join(', ')} was not accepted.`;
    throw new Fault('task/licence-declined', message);
  }
  const downloaded: Downloaded[] = [];
  const { rows } = source;
  for (const name of source.files) {
    const transfer = rows
      ? new RowTransfer(source, name, options, rows)
      : new FileTransfer(source, name, options);
    downloaded.push(await transfer.run());
    await writeFile(join(options.folder, `licence-${parse(name).name}.txt`), `${notice}\n`);
  }
  return downloaded;
}

class FileTransfer extends HubTransfer {
  protected readonly unit = 'bytes';
  private readonly partial = new PartialFile(this.file);

  protected get received(): number {
    return this.partial.received;
  }

  protected async attempt(connection: HubConnection): Promise<Downloaded> {
    const { onProgress } = this.options;
    const { blob, version } = await this.remote(connection);
    const there = await this.alreadyThere(version);
    if (there === undefined) await this.open(version);
    if (isCommit(this.revision)) await keepCommit(this.options.folder, this.source.repository, this.revision);
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
      `${this.name} differs from what ${this.hubUrl} announced (etag ${version.etag}, ${version.size} bytes) and was removed. Start the download again.`,
    );
  }

  protected close(): Promise<void> {
    return this.partial.close();
  }

  protected async restart(failure: HubFailure): Promise<void> {
    await this.partial.discard();
    this.notice(`${this.name} starts anew: ${failure.message}.`);
  }
}
