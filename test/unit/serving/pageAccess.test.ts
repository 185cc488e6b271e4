import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { pageRefusalOf } from '../../../src/core/serving/pageAccess';

const access = { host: '127.0.0.1', token: 'secret', isPublic: (path: string) => path === '/' };

/** Returns the status of the refusal; undefined if the request may come in. */
function statusOf(
  headers: IncomingMessage['headers'],
  { url = '/seat/view', ...more }: { url?: string; host?: string; origin?: string } = {},
): number | undefined {
  const request = { headers: { host: '127.0.0.1:8000', ...headers }, url } as IncomingMessage;
  return pageRefusalOf(request, { ...access, ...more })?.status;
}

const authorization = 'Bearer secret';

it('lets in who sends the token, and gives the files of the page to everyone', () => {
  expect(statusOf({ authorization })).toBeUndefined();
  expect(
    statusOf({ authorization, host: 'localhost:8000', origin: 'http://localhost:8000' }),
  ).toBeUndefined();
  expect(statusOf({}, { url: '/' })).toBeUndefined();
});

it('refuses a wrong token, none, and one in the address', () => {
  expect(statusOf({})).toBe(401);
  expect(statusOf({ authorization: 'Bearer secret2' })).toBe(401);
  expect(statusOf({}, { url: '/seat/view?token=secret' })).toBe(401);
});

it('refuses a foreign name that leads to this server, even with the token', () => {
  for (const host of ['evil.example:8000', '', '127.0.0.1.evil.example'])
    expect(statusOf({ authorization, host }), host).toBe(403);
  expect(statusOf({ host: 'evil.example:8000' }, { url: '/' })).toBe(403);
});

it('refuses requests of other pages, even with the token', () => {
  for (const origin of ['https://evil.example', 'http://127.0.0.1:9000', 'null'])
    expect(statusOf({ authorization, origin }), origin).toBe(403);
});

it('knows its number on a network, and the address of the proxy in front of it', () => {
  const open = { host: '0.0.0.0' };
  expect(statusOf({ authorization, host: '192.168.1.5:8000' }, open)).toBeUndefined();
  expect(statusOf({ authorization, host: 'lab.example' }, open)).toBe(403);
  const proxied = { ...open, origin: 'https://lab.example' };
  expect(
    statusOf({ authorization, host: 'lab.example', origin: 'https://lab.example' }, proxied),
  ).toBeUndefined();
  expect(statusOf({ authorization, origin: 'https://lab.example' }, proxied)).toBeUndefined();
});
