import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { download as fetchFiles, type DownloadOptions } from '../../../src/core/task/download';
import { Hub } from '../../fixtures/hub';
import { changed, content, fault, scene } from '../../fixtures/hub-scene';
import { bundled, inFolder, runNode } from '../../fixtures/tasks';

describe('the licence', () => {
  test('is shown before the first request, and nothing is fetched without a yes', () =>
    scene(async ({ hub, folder, download }) => {
      let shown = '';
      const acceptLicence = (notice: string): Promise<boolean> => {
        shown = notice;
        return Promise.resolve(false);
      };
      await expect(download({ acceptLicence })).rejects.toMatchObject(
        fault('licence-declined', /license of backend_tasks\/test\.jsonl was not accepted\.$/),
      );
      expect(shown).toContain('CC BY-NC 4.0');
      expect(shown).toContain('Llama 3.1 Community License');
      expect(hub.requests).toEqual([]);
      expect(await readdir(folder)).toEqual([]);
    }));
});

describe('a download', () => {
  test.each([
    ['git', 'git-sha1'],
    ['lfs', 'sha256'],
    ['xet', 'sha256'],
  ] as const)('of a file that the hub keeps in %s is verified by %s', (storage, verified) =>
    scene(async ({ hub, file, download, notices }) => {
      const steps: number[] = [];
      const onProgress: DownloadOptions['onProgress'] = ({ received, total }) => {
        expect(total).toBe(content.length);
        steps.push(received);
      };
      expect(await download({ onProgress })).toEqual({
        file,
        bytes: content.length,
        verified,
        commit: hub.commit,
        alreadyThere: false,
      });
      expect(content.equals(await readFile(file))).toBe(true);
      expect(await readdir(join(file, '..'))).toEqual(['test.jsonl']);
      expect(steps[0]).toBe(0);
      expect(steps.at(-1)).toBe(content.length);
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      expect(notices).toEqual([]);
    }, storage),
  );

  test('gives an access token to the hub and not to where it redirects', () =>
    scene(async ({ hub, download }) => {
      await download({ accessToken: 'hf_secret' });
      const tokens = (by: string): unknown[] =>
        hub.requests.filter((request) => request.by === by).map(({ authorization }) => authorization);
      expect(tokens('hub')).toEqual(['Bearer hf_secret']);
      expect(tokens('storage')).toEqual([undefined]);
    }, 'xet'));

  test('continues in place when the connection breaks', () =>
    scene(async ({ hub, file, download, notices }) => {
      hub.next({ at: 'data', kind: 'hold', after: 700_000 });
      await download({ onProgress: ({ received }) => received === 700_000 && hub.drop() });
      expect(hub.ranges).toEqual([undefined, 'bytes=700000-1999999']);
      expect(content.equals(await readFile(file))).toBe(true);
      expect(notices).toEqual([expect.stringMatching(/; next attempt in 1 s\.$/)]);
    }));

  test('asks again after 500, 503 and 429, as late as the hub says', async () => {
    const askAgain = (status: number): Promise<void> =>
      scene(async ({ hub, file, download, notices }) => {
        hub.next(
          { at: 'info', kind: 'status', status, headers: { 'Retry-After': '1' } },
          { at: 'data', kind: 'status', status },
        );
        await download();
        expect(content.equals(await readFile(file))).toBe(true);
        expect(notices).toEqual([
          expect.stringMatching(new RegExp(`${status} .*; next attempt in 1 s\\.$`)),
          expect.stringMatching(new RegExp(`${status} .*; next attempt in 1 s\\.$`)),
        ]);
      });
    await Promise.all([500, 503, 429].map(askAgain)); // the waits cost nothing beside each other
  });

  test('starts anew when the server does not continue in the middle', () =>
    scene(async ({ hub, file, download, downloadHalf, notices }) => {
      await downloadHalf();
      hub.next({ at: 'data', kind: 'ignore-range' });
      await download();
      await downloadedAnew(file, hub, notices);
    }));

  async function downloadedAnew(file: string, hub: Hub, notices: string[]): Promise<void> {
    expect(hub.ranges).toEqual([undefined, 'bytes=1000000-1999999', undefined]);
    expect(content.equals(await readFile(file))).toBe(true);
    expect(notices).toEqual([expect.stringMatching(/^backend_tasks\/test.jsonl starts anew: /)]);
  }
});

describe('several files of a model', () => {
  test('come from one commit, at the paths that they have in the repository', async () => {
    const files = ['config.json', 'onnx/model.onnx'];
    const hub = await Hub.start(files, content, 'lfs', 'owner/model');
    const licences = [{ name: 'MIT', url: 'https://opensource.org/license/mit', summary: [] }];
    const source = { repository: 'owner/model', about: 'a model', folder: 'model', files, licences };
    try {
      await inFolder(async (folder) => {
        const { commit } = hub;
        const downloaded = await fetchFiles(source, {
          folder,
          hubUrl: hub.url,
          acceptLicence: (notice) => Promise.resolve(notice.includes('MIT')),
          onProgress: ({ received, total }) => {
            if (received === total && hub.commits.size === 1) hub.replace(changed);
          },
        });
        expect(downloaded).toEqual(
          files.map((file) => ({
            file: join(folder, file),
            bytes: content.length,
            verified: 'sha256',
            commit,
            alreadyThere: false,
          })),
        );
        expect(content.equals(await readFile(join(folder, files[1]!)))).toBe(true);
      });
    } finally {
      await hub.close();
    }
  });
});

describe('an aborted signal', () => {
  test('ends the wait before the next attempt', () =>
    scene(async ({ hub, download }) => {
      hub.next({ at: 'info', kind: 'status', status: 503 });
      const controller = new AbortController();
      const reason = new Error('enough');
      const waiting = download({
        retryDelay: 3_600_000,
        signal: controller.signal,
        onNotice: () => controller.abort(reason),
      });
      await expect(waiting).rejects.toBe(reason);
    }));
});

describe('a later call', () => {
  test('continues where an aborted one stopped', () =>
    scene(async ({ hub, file, download, downloadHalf }) => {
      await downloadHalf();
      expect((await readdir(join(file, '..'))).toSorted()).toEqual([
        'test.jsonl.part',
        'test.jsonl.part.json',
      ]);
      const steps: number[] = [];
      await download({ onProgress: ({ received }) => steps.push(received) });
      expect(steps[0]).toBe(1_000_000);
      expect(hub.ranges).toEqual([undefined, 'bytes=1000000-1999999']);
      expect(content.equals(await readFile(file))).toBe(true);
    }));

  test('continues where a killed process stopped', () =>
    scene(async ({ hub, folder, file, download }) => {
      const script = await bundled('hub-download.ts', folder);
      hub.next({ at: 'data', kind: 'hold', after: 1_234_567 });
      const { signal, stderr } = await runNode([script, hub.url, folder], (printed, kill) => {
        if (printed.includes('received 1234567\n')) kill();
      });
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
      expect(existsSync(file)).toBe(false);
      await download();
      expect(hub.ranges).toEqual([undefined, 'bytes=1234567-1999999']);
      expect(content.equals(await readFile(file))).toBe(true);
    }));

  test('stays with its commit when the file has changed on the hub', () =>
    scene(async ({ hub, file, download, downloadHalf, notices }) => {
      const { commit } = hub;
      await downloadHalf();
      hub.replace(changed);
      expect(await download()).toMatchObject({ commit });
      expect(hub.ranges).toEqual([undefined, 'bytes=1000000-1999999']);
      expect(content.equals(await readFile(file))).toBe(true);
      expect(notices).toEqual([]);
    }));

  test('takes a complete file as it is', () =>
    scene(async ({ hub, file, download }) => {
      const { commit } = await download();
      const again = await download();
      expect(again).toEqual({
        ...{ file, bytes: content.length, verified: 'git-sha1', commit, alreadyThere: true },
      });
      expect(hub.ranges).toHaveLength(1);
    }));

  test('leaves another file of that name alone', () =>
    scene(async ({ file, download }) => {
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, 'mine');
      await expect(download()).rejects.toMatchObject(
        fault('file-exists', /test\.jsonl exists and is not the published file; move it away/),
      );
      expect(await readFile(file, 'utf8')).toBe('mine');
    }));
});

describe('the commit', () => {
  test.each(['git', 'lfs', 'xet'] as const)(
    'is that of the first answer, also when a file in %s changes before its bytes come',
    (storage) =>
      scene(async ({ hub, file, folder, download }) => {
        const { commit } = hub;
        const moveOn = ({ received }: { received: number }): void => {
          if (received === 0) hub.replace(changed);
        };
        expect(await download({ onProgress: moveOn })).toMatchObject({ commit });
        expect(content.equals(await readFile(file))).toBe(true);
        expect(JSON.parse(await readFile(join(folder, 'source.json'), 'utf8'))).toEqual({
          ...{ version: 1, dataset: 'facebook/collaborative_agent_bench', commit },
        });
      }, storage),
  );

  test('is the one that is asked for, in a folder of its own', () =>
    scene(async ({ hub, folder, file, download }) => {
      const { commit: first } = hub;
      const second = hub.replace(changed);
      expect(await download({ revision: first })).toMatchObject({ commit: first });
      expect(content.equals(await readFile(file))).toBe(true);
      await expect(download({ revision: 'main' })).rejects.toMatchObject(
        fault(
          'other-commit',
          `^${folder} holds files of the commit ${first}, and main is ${second}; choose another folder for it\\.$`,
        ),
      );
    }));
});

describe('a download that cannot be', () => {
  test('wrong bytes are refused and removed, and the next call gets the right ones', () =>
    scene(async ({ hub, file, download }) => {
      hub.next({ at: 'data', kind: 'wrong-byte' });
      await expect(download()).rejects.toMatchObject(
        fault(
          'download-damaged',
          /differs from what http.* announced .* and was removed\. Start the download again\.$/,
        ),
      );
      expect(await readdir(join(file, '..'))).toEqual([]);
      await download();
      expect(content.equals(await readFile(file))).toBe(true);
    }));

  test('more bytes than announced are refused before they are written', () =>
    scene(async ({ hub, file, download }) => {
      hub.next({ at: 'info', kind: 'claim-size', size: 500_000 });
      await expect(download()).rejects.toMatchObject(fault('download-damaged', /500000 bytes/));
      expect(await readdir(join(file, '..'))).toEqual([]);
    }));

  test.each([401, 403])('%i names the page where access is asked for, at once', (status) =>
    scene(async ({ hub, download }) => {
      const headers = { 'X-Error-Code': 'GatedRepo', 'X-Error-Message': 'Access is restricted' };
      hub.next({ at: 'info', kind: 'status', status, headers });
      await expect(download()).rejects.toMatchObject(
        fault(
          'hub-forbidden',
          new RegExp(
            `\\(${status} Access is restricted\\): open ${hub.url}/datasets/facebook/collaborative_agent_bench`,
          ),
        ),
      );
      expect(hub.requests).toHaveLength(1);
    }),
  );

  test('a hub that is down for good is given up, and what arrived is kept', () =>
    scene(async ({ hub, file, download, downloadHalf, notices }) => {
      await downloadHalf();
      for (let times = 0; times < 5; times += 1) hub.next({ at: 'data', kind: 'status', status: 503 });
      await expect(download()).rejects.toMatchObject(
        fault(
          'hub-refused',
          /answered 503 Service Unavailable; try again later, .* continues after 1,000,000 bytes\.$/,
        ),
      );
      expect(notices).toHaveLength(4);
      expect(existsSync(`${file}.part`)).toBe(true);
    }));

  test('a hub that asks for an hour of patience is not waited for', () =>
    scene(async ({ hub, download, notices }) => {
      hub.next({ at: 'info', kind: 'status', status: 429, headers: { 'Retry-After': '3600' } });
      await expect(download()).rejects.toMatchObject(
        fault('hub-refused', /answered 429 Too Many Requests and asks to wait 3600 s; try again later/),
      );
      expect(notices).toEqual([]);
    }));

  test('without a network it says which address could not be reached', () =>
    scene(async ({ hub, download }) => {
      await hub.close();
      await expect(download()).rejects.toMatchObject(
        fault(
          'hub-unreachable',
          new RegExp(`^${hub.url} cannot be reached \\(.*ECONNREFUSED.*, 5 attempts in a row\\)`),
        ),
      );
    }));

  test('a sign-in page in place of the hub is recognised', () =>
    scene(async ({ hub, download }) => {
      const asFile = { 'Content-Type': 'text/html', ETag: '"1"', 'Content-Range': 'bytes 0-36/37' };
      for (const page of [{}, { headers: asFile }]) {
        hub.next({ at: 'info', kind: 'sign-in-page', ...page });
        await expect(download()).rejects.toMatchObject(
          fault(
            'hub-protocol',
            /does not answer as the Hugging Face Hub does .* or sign in to the network\.$/,
          ),
        );
      }
    }));

  test('a file that the disk has no room for is refused before it is fetched', () =>
    scene(async ({ hub, file, download }) => {
      hub.next({ at: 'info', kind: 'claim-size', size: 2 ** 52 });
      await expect(download()).rejects.toMatchObject(
        fault('disk-full', /^The disk of .* is full: free [\d,]+ bytes/),
      );
      expect(hub.ranges).toEqual([]);
      expect(await readdir(join(file, '..'))).toEqual([]);
    }));
});
