import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { content, fault, scene } from '../../fixtures/hub-scene';

describe('a download that cannot be', () => {
  test('wrong bytes are refused and removed, and the next call gets the right ones', () =>
    scene(async ({ hub, file, download }) => {
      hub.next({ at: 'data', kind: 'wrong-byte' });
      await expect(download()).rejects.toMatchObject(
        fault(
          'download-damaged',
          /is not what http.* announced .*; it is removed, so start the download again\.$/,
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

  test('404 says what is missing where, at once', () =>
    scene(async ({ hub, download }) => {
      hub.next({ at: 'info', kind: 'status', status: 404 });
      await expect(download()).rejects.toMatchObject(
        fault(
          'hub-no-file',
          /collaborative_agent_bench has no file backend_tasks\/test\.jsonl \(404 Not Found\)/,
        ),
      );
      expect(hub.requests).toHaveLength(1);
    }));

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
      hub.next({ at: 'info', kind: 'sign-in-page' });
      await expect(download()).rejects.toMatchObject(
        fault('hub-protocol', /does not answer as the Hugging Face Hub does .* or sign in to the network\.$/),
      );
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
