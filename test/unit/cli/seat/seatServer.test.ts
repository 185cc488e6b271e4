import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { SeatAction, SeatAnswer, SeatView, ViewRequest } from '../../../../webview/seat/protocol';
import { SeatServer } from '../../../../src/cli/seat/seatServer';
import { SeatTasks } from '../../../../src/cli/seat/seatTasks';
import { partsFor } from '../../../../src/core/dialogue/packAssignment';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import type { Grade } from '../../../../src/core/grading/grade';
import type { Grader } from '../../../../src/core/grading/grader';
import type { Model } from '../../../../src/core/model/model';
import { loadTasks } from '../../../../src/core/task/pack';
import { programOf } from '../../../../src/core/task/task';
import { assigning } from '../../../../src/core/trajectory/assignments';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { answers, asks, scripted, shippedPrompts, starterPack } from '../../../fixtures/dialogue';
import { openLog, temporaryFolder } from '../../../fixtures/log';

const token = 'a-token-of-the-test';
const graded = { mode: 'fixed', reward: 1, success: true, tests: [] } as unknown as Grade;
const grader = { grade: () => Promise.resolve(graded) } as unknown as Grader;
const kim = { pseudonym: 'kim', purpose: 'a test', level: 'local' } as const;

/** A page that knows nothing but HTTP. */
class Client {
  constructor(readonly address: string) {}

  send(route: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.address}${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    });
  }

  async view(request: ViewRequest): Promise<SeatView> {
    return (await this.done('/seat/view', request)) as SeatView;
  }

  async act(action: SeatAction): Promise<SeatAnswer> {
    return (await this.done('/seat/act', action)) as SeatAnswer;
  }

  private async done(route: string, body: object): Promise<unknown> {
    const response = await this.send(route, body);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }

  /** The first view in this phase. */
  async until(phase: SeatView['phase'], pseudonym = 'kim'): Promise<SeatView> {
    let view = await this.view({ pseudonym });
    while (view.phase !== phase) view = await this.view({ pseudonym, after: view.version });
    return view;
  }
}

interface Served extends AsyncDisposable {
  readonly client: Client;
  readonly server: SeatServer;
}

/** Serves the first tasks of the handwritten pack, with an agent that has these turns. */
async function serve(
  log: TrajectoryLog,
  folder: string,
  played: readonly string[] | Model,
  tasks = 2,
): Promise<Served> {
  const { tasks: all } = await loadTasks(starterPack);
  const packTasks = all.slice(0, tasks).map((task) => ({ task, pack: path.basename(starterPack) }));
  const agent = 'generate' in played ? played : await scripted(folder, played);
  const server = await SeatServer.start({
    ...{ host: '127.0.0.1', port: 0, token, pages: folder, folder: '.tandem' },
    plan: {
      ...{ log, grader, mode: 'fixed', protocol: colBenchProtocol, counts: { begun: 0, graded: 0 } },
      tasks: new SeatTasks(log, [starterPack], packTasks),
      parts: { log, agent, prompts: await shippedPrompts(), sampling: { temperature: 1, maxTokens: 64 } },
    },
  });
  const client = new Client(server.address);
  return { client, server, [Symbol.asyncDispose]: () => server.close() };
}

const reply = (view: SeatView, text: string, anyway = false): SeatAction => ({
  ...{ type: 'reply', pseudonym: 'kim', task: view.task!.id, turn: view.turns.length, text, anyway },
});

it('asks for consent, then plays a dialogue to its grade, and logs it as the editor does', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await using served = await serve(log, folder, [asks('From which weight on?'), answers('def f(): pass')], 1);
  const { client } = served;

  expect(await client.view({})).toMatchObject({ phase: 'consent', consent: { level: 'local' } });
  expect((await client.act({ type: 'start', pseudonym: 'kim' })).view.phase).toBe('consent');
  expect(log.list({ offset: 0, limit: 10 }).total).toBe(0);

  const { view } = await client.act({ type: 'consent', consent: kim });
  expect(view).toMatchObject({ phase: 'ready', own: 'kim', progress: { done: 0, of: 1 } });
  expect(view.task!.reference).toContain('def ');
  await client.act({ type: 'start', pseudonym: 'kim' });
  const asked = await client.until('developer');
  expect(asked.turns).toMatchObject([
    { turn: 1, visible: 'From which weight on?', thoughts: 'I am not sure.' },
  ]);
  await client.act(reply(asked, 'From 20 kg on.'));
  const over = await client.until('over');
  expect(over).toMatchObject({ grade: { verdict: 'passed' }, progress: { done: 1, of: 1 } });
  await client.act({ type: 'next', pseudonym: 'kim' });
  await client.until('done');

  const [row] = log.list({ offset: 0, limit: 10 }).rows;
  expect(row).toMatchObject({ player: 'kim', state: 'answered', pack: path.basename(starterPack) });
  expect(row!.collection).toBeUndefined();
  expect(log.consents).toMatchObject([kim]);
  const trajectory = await log.trajectory(row!.id);
  expect(trajectory!.turns[0]!.reply).toMatchObject({
    author: 'developer',
    by: 'kim',
    text: 'From 20 kg on.',
  });
  expect(trajectory!.turns[0]!.reply!.milliseconds).toBeGreaterThanOrEqual(0);
});

it('holds a reply back that gives the reference away, until the person sends it anyway', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await using served = await serve(log, folder, [asks('How?'), asks('And?')], 1);
  const { client } = served;
  await client.act({ type: 'consent', consent: kim });
  await client.act({ type: 'start', pseudonym: 'kim' });
  const asked = await client.until('developer');
  const { reference } = programOf((await loadTasks(starterPack)).tasks[0]!);
  const held = await client.act(reply(asked, reference.slice(0, 390)));
  expect(held.leak!.percent).toBeGreaterThan(24);
  expect(held.leak!.passages.length).toBeGreaterThan(0);
  expect(held.view.turns[0]!.reply).toBeUndefined();
  const sent = await client.act(reply(asked, reference.slice(0, 390), true));
  expect(sent.view.turns[0]!.reply!.leakPercent).toBeGreaterThan(24);
});

it('keeps two tabs in step: a reply to an earlier turn is not logged', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await using served = await serve(log, folder, [asks('One?'), asks('Two?'), asks('Three?')], 1);
  const { client } = served;
  await client.act({ type: 'consent', consent: kim });
  await client.act({ type: 'start', pseudonym: 'kim' });
  const shown = await client.until('developer');
  const other = client.view({ pseudonym: 'kim', after: shown.version });
  await client.act(reply(shown, 'First.'));
  expect((await other).version).toBeGreaterThan(shown.version);
  const next = await client.until('developer');
  await client.act(reply(shown, 'Late.'));
  expect((await client.view({ pseudonym: 'kim' })).turns.map(({ reply: said }) => said?.text)).toEqual([
    'First.',
    undefined,
  ]);
  expect(next.turn).toBe(2);
});

it('continues the same dialogue when the server was stopped in the middle', async () => {
  const folder = await temporaryFolder();
  const turns = [asks('One?'), asks('Two?'), answers('def f(): pass')];
  const log = await openLog(folder);
  {
    await using served = await serve(log, folder, turns);
    await served.client.act({ type: 'consent', consent: kim });
    await served.client.act({ type: 'start', pseudonym: 'kim' });
    await served.client.act(reply(await served.client.until('developer'), 'First.'));
    await served.client.until('developer');
  }
  await using again = await serve(log, folder, turns);
  const view = await again.client.until('developer');
  expect(view.turns.map(({ visible }) => visible)).toEqual(['One?', 'Two?']);
  expect(log.list({ offset: 0, limit: 10 }).total).toBe(1);
});

it('says that an agent failed, and asks it again', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  let attempts = 0;
  const script = await scripted(folder, [asks('One?')]);
  const agent: Model = {
    name: 'at second attempt',
    generate: (...request) =>
      attempts++ === 0 ? Promise.reject(new Error('It is out of breath.')) : script.generate(...request),
  };
  await using served = await serve(log, folder, agent, 1);
  const { client } = served;
  await client.act({ type: 'consent', consent: kim });
  await client.act({ type: 'start', pseudonym: 'kim' });
  expect(await client.until('stopped')).toMatchObject({ notice: 'It is out of breath.', turns: [] });
  await client.act({ type: 'again', pseudonym: 'kim' });
  expect((await client.until('developer')).turns).toMatchObject([{ visible: 'One?' }]);
  expect(log.list({ offset: 0, limit: 10 }).total).toBe(1);
});

it('deals the tasks of an assigned pack to those who have a part', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  const pack = path.basename(starterPack);
  await log.appendAll(assigning(pack, partsFor(pack, ['kim', 'ada'], 1)), { durable: true });
  await using served = await serve(log, folder, [asks('One?')], 4);
  const { client } = served;
  expect(await client.view({})).toMatchObject({ isAssigned: true, consent: { pseudonym: '' } });
  expect((await client.act({ type: 'consent', consent: kim })).view.progress).toEqual({ done: 0, of: 2 });
  const stranger = await client.act({ type: 'consent', consent: { ...kim, pseudonym: 'bo' } });
  expect(stranger.view).toMatchObject({ phase: 'done', progress: { done: 0, of: 0 } });
});

it('answers a bad request in one sentence, and no answer or file has the token', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await writeFile(path.join(folder, 'seat.js'), 'export {};');
  await using served = await serve(log, folder, [asks('One?')], 1);
  const { client } = served;
  const responses = [
    await fetch(client.address),
    await fetch(`${client.address}/seat.js`),
    await fetch(`${client.address}/../package.json`),
    await client.send('/seat/view', {}, { authorization: 'Bearer wrong' }),
    await client.send('/seat/view', {}, { origin: 'https://evil.example' }),
    await client.send('/seat/act', { type: 'fly' }),
    await client.send('/seat/act', { type: 'consent', consent: kim }),
    await client.send('/seat/nowhere', {}),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 401, 401, 403, 422, 200, 404]);
  const policy = responses[0]!.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  for (const response of responses) {
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(token);
  }
  for (const name of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    expect(await readFile(path.join(name.parentPath, name.name), 'latin1')).not.toContain(token);
  }
});
