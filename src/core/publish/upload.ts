import { openAsBlob } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import {
  commitIter,
  createRepo,
  datasetInfo,
  HUB_URL,
  HubApiError,
  modelInfo,
  whoAmI,
} from '@huggingface/hub';
import { Fault, messageOf } from '../fault';
import { openRegular } from '../regularFile';
import { isHubToken, isRepository } from '../task/hub';
import { withoutEnd } from '../text';
import { changed, stampOf } from './fileSearch';
import type { Publication } from './publication';

export interface UploadOptions {
  /** `owner/name`. */
  readonly repository: string;
  /** Applies to a new repository; by default only its owner can read it. */
  readonly isPublic?: boolean;
  /** A Hugging Face token (`hf_…`) that may write. */
  readonly accessToken: string | undefined;
  readonly hubUrl?: string | undefined;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /** One sentence for each repeated attempt. */
  readonly onNotice?: (sentence: string) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds before the first repeated attempt; doubles with each further one. */
  readonly retryDelay?: number;
}

export interface Published {
  readonly url: string;
  readonly commit: string;
  readonly isPrivate: boolean;
}

/** Failures in a row after which the upload is given up. */
const MAX_FAILURES = 5;

/**
 * Makes the repository on the Hugging Face Hub when there is none. All files appear in one commit, or none does. After
 * an interruption the next call sends only the large files that the hub does not have yet.
 * @throws {Fault} `publish/no-repository`, `task/bad-token`, `publish/public-there`, `publish/forbidden`,
 * `publish/refused`, `publish/unreachable`, `publish/not-a-hub`, `publish/changed`
 * @throws the signal's reason when it is aborted
 */
export async function upload(publication: Publication, options: UploadOptions): Promise<Published> {
  const { repository } = options;
  if (!isRepository(repository))
    throw new Fault(
      'publish/no-repository',
      `"${repository}" is no repository of the hub: give the owner and a name, such as ada/dialogues.`,
    );
  return new Upload(publication, options, requireToken(options.accessToken)).run();
}

class Upload {
  private readonly repo: { type: Publication['kind']; name: string };
  private readonly hubUrl: string;

  constructor(
    private readonly publication: Publication,
    private readonly options: UploadOptions,
    private readonly accessToken: string,
  ) {
    this.repo = { type: publication.kind, name: options.repository };
    this.hubUrl = addressOf(options.hubUrl);
  }

  async run(): Promise<Published> {
    const isPrivate = await this.repeated(() => this.repositoryIsPrivate());
    const commit = await this.repeated(() => this.commit());
    const folder = this.repo.type === 'dataset' ? 'datasets/' : '';
    return { url: `${this.hubUrl}/${folder}${this.repo.name}`, commit, isPrivate };
  }

  private get access() {
    return { hubUrl: this.hubUrl, accessToken: this.accessToken };
  }

  /** Makes the repository where it is missing. Refuses a public one unless that was requested. */
  private async repositoryIsPrivate(): Promise<boolean> {
    const { isPublic = false } = this.options;
    const there = await this.visibility();
    if (there === undefined) {
      await createRepo({ repo: this.repo, visibility: isPublic ? 'public' : 'private', ...this.access });
      return !isPublic;
    }
    if (there === 'public' && !isPublic)
      throw new Fault(
        'publish/public-there',
        `${this.repo.name} is public: everybody could read what is published there. Name another repository, or publish publicly.`,
      );
    return there === 'private';
  }

  private async visibility(): Promise<'private' | 'public' | undefined> {
    const asked = { name: this.repo.name, ...this.access };
    try {
      const { private: isPrivate } = await (this.repo.type === 'dataset'
        ? datasetInfo(asked)
        : modelInfo(asked));
      return isPrivate ? 'private' : 'public';
    } catch (error) {
      if (error instanceof HubApiError && error.statusCode === 404) return undefined;
      throw error;
    }
  }

  private async commit(): Promise<string> {
    const { signal, onProgress } = this.options;
    const { files, bytes: total } = this.publication;
    const sizes = new Map(files.map(({ path, bytes }) => [path, bytes]));
    const sent = new Map<string, number>();
    const steps = commitIter({
      repo: this.repo,
      title: `Publish ${this.repo.type} with Tandem`,
      operations: await Promise.all(
        files.map(async ({ file, path, stamp }) => ({
          operation: 'addOrUpdate' as const,
          path,
          content: await searchedContent(file, stamp),
        })),
      ),
      ...(signal && { abortSignal: signal }),
      ...this.access,
    });
    for (;;) {
      const { done, value } = await steps.next();
      if (done === true) {
        onProgress?.({ done: total, total });
        return value!.commit.oid;
      }
      if (value.event !== 'fileProgress' || value.state !== 'uploading') continue;
      sent.set(value.path, value.progress * (sizes.get(value.path) ?? 0));
      onProgress?.({ done: Math.round([...sent.values()].reduce((sum, each) => sum + each, 0)), total });
    }
  }

  private async repeated<T>(attempt: () => Promise<T>): Promise<T> {
    const { signal, retryDelay = 1000, onNotice } = this.options;
    for (let failures = 1; ; failures += 1) {
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        if (!mayPass(error) || failures >= MAX_FAILURES)
          throw asFault(error, this.hubUrl, `the ${this.repo.type} ${this.repo.name}`);
        const delay = retryDelay * 2 ** (failures - 1);
        onNotice?.(`${this.hubUrl}: ${said(error)}; next attempt in ${Math.ceil(delay / 1000)} s.`);
        await wait(delay, undefined, signal && { signal });
      }
    }
  }
}

/**
 * The name under which the owner of a token publishes.
 * @throws {Fault} `task/bad-token`, `publish/forbidden`, `publish/refused`, `publish/unreachable`
 */
export async function ownerOf(access: Pick<UploadOptions, 'accessToken' | 'hubUrl'>): Promise<string> {
  const hubUrl = addressOf(access.hubUrl);
  try {
    return (await whoAmI({ accessToken: requireToken(access.accessToken), hubUrl })).name;
  } catch (error) {
    throw asFault(error, hubUrl, 'the account');
  }
}

const addressOf = (hubUrl = HUB_URL): string => withoutEnd(hubUrl, '/');

function requireToken(accessToken: string | undefined): string {
  if (accessToken !== undefined && isHubToken(accessToken)) return accessToken;
  throw new Fault(
    'task/bad-token',
    'Publishing needs a Hugging Face access token that may write; it begins with "hf_". Set HF_TOKEN to it.',
  );
}

/** A blob fails to be read once its file is written to. */
async function searchedContent(file: string, stamp: string): Promise<Blob> {
  const content = await openAsBlob(file);
  const handle = await openRegular(file);
  try {
    if ((await stampOf(handle)) !== stamp) throw changed(file);
  } finally {
    await handle.close();
  }
  return content;
}

function asFault(error: unknown, hubUrl: string, what: string): unknown {
  if (error instanceof HubApiError) {
    const { statusCode } = error;
    const isToken = statusCode === 401 || statusCode === 403;
    return new Fault(
      isToken ? 'publish/forbidden' : 'publish/refused',
      isToken
        ? `${hubUrl} does not open ${what} to this token (${statusCode}): use a token with the right to write, of an account that may.`
        : `${hubUrl} refused ${what} (${statusCode}: ${said(error)}); nothing appeared there. Do what it says, then publish again.`,
      { cause: error },
    );
  }
  // The hub's client reads fields that a sign-in page does not have.
  if (error instanceof SyntaxError || (error instanceof TypeError && !isLost(error)))
    return new Fault(
      'publish/not-a-hub',
      `${hubUrl} does not answer as the Hugging Face Hub does, perhaps because the network asks you to sign in first; nothing is known to have appeared there. Open that address in a browser, then publish again.`,
      { cause: error },
    );
  if (error instanceof DOMException && error.name === 'NotReadableError')
    return changed(`A file of ${what}`, error);
  if (!isLost(error)) return error;
  return new Fault(
    'publish/unreachable',
    `${hubUrl} cannot be reached (${said(error)}); check the network, then publish again: large files that have arrived are not sent twice.`,
    { cause: error },
  );
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof HubApiError)) return isLost(error);
  const { statusCode } = error;
  return statusCode === 408 || statusCode === 429 || statusCode >= 500;
}

/** `fetch` throws a `TypeError` with a cause when the connection fails. */
const isLost = (error: unknown): boolean => error instanceof TypeError && error.cause !== undefined;

/** Omits the address and the request's name, which the hub's client appends. */
function said(error: unknown): string {
  const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  return messageOf(cause).replace(/\.? URL: .*$/s, '');
}
