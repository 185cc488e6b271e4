import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentSeatAction, AgentSeatView, SeatAction, SeatView } from '../../../../webview/seat/protocol';
import { AgentSeats } from '../../../../src/cli/seat/agentSeats';
import { SeatServer } from '../../../../src/cli/seat/seatServer';
import { SeatTasks } from '../../../../src/cli/seat/seatTasks';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import { clientAgent } from '../../../../src/core/environment/episode';
import type { Grade } from '../../../../src/core/grading/grade';
import type { Grader } from '../../../../src/core/grading/grader';
import { loadTasks } from '../../../../src/core/task/pack';
import { PERSON } from '../../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { developersOf } from '../../../../src/core/trajectory/trajectory';
import { asks, scripted, shippedPrompts, starterPack, starterTask } from '../../../fixtures/dialogue';
import { openLog, temporaryFolder } from '../../../fixtures/log';

const tokens = { seat: 'the-developers-token', agent: 'the-agents-token' } as const;
const graded = { mode: 'fixed', reward: 1, success: true, tests: [] } as unknown as Grade;
const grader = { grade: () => Promise.resolve(graded) } as unknown as Grader;

const post = (address: string, body: object, token: string): Promise<Response> =>
  fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

/** A page of one person, which knows nothing but HTTP. */
class Page<View extends { readonly version: number; readonly phase: string }, Action> {
  /** Everything that was sent to it. */
  readonly sent: string[] = [];

  constructor(
    private readonly address: string,
    private readonly seat: 'seat' | 'agent',
    readonly pseudonym: string,
  ) {}

  async view(after?: number): Promise<View> {
    return (await this.done('view', { pseudonym: this.pseudonym, after })) as View;
  }

  async act(action: Action): Promise<View> {
    return ((await this.done('act', action as object)) as { readonly view: View }).view;
  }

  agree(level: 'local' | 'export' = 'local'): Promise<View> {
    const { pseudonym } = this;
    return this.act({ type: 'consent', consent: { pseudonym, purpose: 'a test', level } } as Action);
  }

  /** The first view in this phase. */
  async until<Phase extends View['phase']>(phase: Phase): Promise<View & { readonly phase: Phase }> {
    let view = await this.view();
    while (view.phase !== phase) view = await this.view(view.version);
    return view as View & { readonly phase: Phase };
  }

  private async done(route: string, body: object): Promise<unknown> {
    const response = await post(`${this.address}/${this.seat}/${route}`, body, tokens[this.seat]);
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    this.sent.push(text);
    return JSON.parse(text);
  }
}

type DeveloperPage = Page<SeatView, SeatAction>;
type AgentPage = Page<AgentSeatView, AgentSeatAction>;

interface Served extends AsyncDisposable {
  readonly address: string;
  developer(pseudonym: string): Promise<DeveloperPage>;
  agent(pseudonym: string): Promise<AgentPage>;
}

async function serve(log: TrajectoryLog, seats = new AgentSeats()): Promise<Served> {
  const { tasks } = await loadTasks(starterPack);
  const packTasks = [{ task: tasks[0]!, pack: path.basename(starterPack) }];
  const server = await SeatServer.start({
    ...{ host: '127.0.0.1', port: 0, token: tokens.seat, agents: { seats, token: tokens.agent } },
    ...{ pages: 'nowhere', folder: '.tandem' },
    plan: {
      ...{ log, grader, mode: 'fixed', protocol: colBenchProtocol, counts: { begun: 0, graded: 0 } },
      tasks: new SeatTasks(log, [starterPack], packTasks),
      parts: {
        ...{ log, agent: clientAgent(PERSON), prompts: await shippedPrompts() },
        sampling: { temperature: 1, maxTokens: 64 },
      },
    },
  });
  const { address } = server;
  return {
    address,
    async developer(pseudonym) {
      const page: DeveloperPage = new Page(address, 'seat', pseudonym);
      await page.agree();
      return page;
    },
    async agent(pseudonym) {
      const page: AgentPage = new Page(address, 'agent', pseudonym);
      await page.agree();
      return page;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function say(page: AgentPage, text: string, isAnswer = false): Promise<AgentSeatView> {
  const { dialogue } = await page.until('agent');
  const { id, turn } = dialogue;
  return page.act({ type: 'say', pseudonym: page.pseudonym, dialogue: id, turn, text, isAnswer });
}

async function reply(page: DeveloperPage, text: string): Promise<void> {
  const { task, turns } = await page.until('developer');
  const { pseudonym } = page;
  await page.act({ type: 'reply', pseudonym, task: task!.id, turn: turns.length, text, anyway: false });
}

const start = ({ pseudonym }: DeveloperPage): SeatAction => ({ type: 'start', pseudonym });

/** What only the developer knows, as it would stand in JSON. */
async function hidden(): Promise<string[]> {
  const { reference, hiddenInformation, testCases } = await starterTask();
  const texts = [reference, hiddenInformation, ...testCases.map(({ call }) => call)];
  return texts.map((text) => JSON.stringify(text.trim()).slice(1, -1));
}

it('lets two people play a dialogue to its grade, and sends the agent nothing hidden before the answer', async () => {
  const log = await openLog();
  await using served = await serve(log);
  const lee: AgentPage = new Page(served.address, 'agent', 'lee');
  expect((await lee.view()).phase).toBe('consent');
  await lee.agree('export');
  expect(await lee.view()).toMatchObject({ phase: 'waiting', own: 'lee' });
  const kim = await served.developer('kim');
  await kim.act(start(kim));

  await say(lee, 'From which weight on?');
  const asked = await kim.until('developer');
  expect(asked).toMatchObject({ agent: 'lee', turns: [{ turn: 1, visible: 'From which weight on?' }] });
  await reply(kim, 'From 20 kg on.');
  const { dialogue } = await lee.until('agent');
  expect(dialogue).toMatchObject({ developer: 'kim', turn: 2, turns: [{ reply: 'From 20 kg on.' }] });
  expect(dialogue.description).toContain('def ');
  const before = lee.sent.join('\n');
  for (const text of await hidden()) expect(before).not.toContain(text);

  await say(lee, 'def f(): pass', true);
  expect(await lee.until('over')).toMatchObject({
    grade: { verdict: 'passed' },
    dialogue: { turns: [{ final: false }, { final: true }] },
  });
  await kim.until('over');
  expect((await lee.act({ type: 'next', pseudonym: 'lee' })).phase).toBe('waiting');

  const [row] = log.list({ offset: 0, limit: 10 }).rows;
  expect(row).toMatchObject({ agent: 'person', player: 'kim', state: 'answered' });
  const trajectory = (await log.trajectory(row!.id))!;
  expect(trajectory.turns.map(({ agent }) => agent)).toMatchObject([
    { by: 'lee', model: 'person', text: 'OUTPUT:\nFrom which weight on?' },
    { by: 'lee', text: 'OUTPUT:\nI WANT TO ANSWER:\n```python\ndef f(): pass\n```' },
  ]);
  // The consent of both counts: Kim keeps it here.
  expect([...developersOf(trajectory)].toSorted()).toEqual(['kim', 'lee']);
  expect(log.allowed.whyNot(trajectory, false)).toBe('local only');
});

it('opens neither seat with the token of the other', async () => {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await using served = await serve(log);
  const consent = { pseudonym: 'kim', purpose: 'a test', level: 'local' };
  const status = async (route: string, token: string): Promise<number> =>
    (await post(`${served.address}/${route}`, { type: 'consent', consent }, token)).status;
  for (const route of ['view', 'act']) {
    expect(await status(`agent/${route}`, tokens.seat)).toBe(401);
    expect(await status(`seat/${route}`, tokens.agent)).toBe(401);
  }
  expect(log.consents).toEqual([]);
  expect(await status('agent/act', tokens.agent)).toBe(200);
  expect(await (await fetch(`${served.address}/agent`)).text()).toContain('<tandem-agent-seat>');

  const server = await SeatServer.start({
    ...{ host: '127.0.0.1', port: 0, token: tokens.seat, pages: folder, folder: '.tandem' },
    plan: {
      ...{ log, grader, mode: 'fixed', protocol: colBenchProtocol, counts: { begun: 0, graded: 0 } },
      tasks: new SeatTasks(log, [], []),
      parts: {
        ...{ log, agent: await scripted(folder, [asks('One?')]), prompts: await shippedPrompts() },
        sampling: { temperature: 1, maxTokens: 64 },
      },
    },
  });
  expect((await post(`${server.address}/agent/view`, {}, tokens.seat)).status).toBe(404);
  expect((await fetch(`${server.address}/agent`)).status).toBe(401);
  await server.close();
});

it('gives each agent another dialogue, the first first, and no one their own', async () => {
  const log = await openLog();
  await using served = await serve(log);
  const kim = await served.developer('kim');
  await kim.act(start(kim));
  const ada = await served.developer('ada');
  await ada.act(start(ada));
  await ada.until('agent');

  const own = await served.agent('kim');
  expect((await own.until('agent')).dialogue.developer).toBe('ada');
  const lee = await served.agent('lee');
  expect((await lee.until('agent')).dialogue.developer).toBe('kim');
  const mo = await served.agent('mo');
  expect((await mo.view()).phase).toBe('waiting');
});

it('logs one message for a turn, even when two tabs send one', async () => {
  const log = await openLog();
  await using served = await serve(log);
  const kim = await served.developer('kim');
  await kim.act(start(kim));
  const lee = await served.agent('lee');
  const { dialogue } = await lee.until('agent');
  const action = { type: 'say', pseudonym: 'lee', dialogue: dialogue.id, turn: 1, isAnswer: false } as const;
  await Promise.all([lee.act({ ...action, text: 'One?' }), lee.act({ ...action, text: 'Two?' })]);
  await lee.act({ ...action, text: 'Three?' });
  expect((await kim.until('developer')).turns).toHaveLength(1);
  await expect(lee.act({ ...action, text: ' \n' })).rejects.toThrow('The message is empty.');
});

it('tells the developer when the agent’s person leaves, and another one takes over', async () => {
  const log = await openLog();
  await using served = await serve(log, new AgentSeats(50));
  const kim = await served.developer('kim');
  await kim.act(start(kim));
  expect(await kim.until('agent')).toMatchObject({ agent: 'person', isAgentAway: true });
  const lee = await served.agent('lee');
  const asked = await lee.until('agent');
  let view = await kim.view();
  expect(view).toMatchObject({ agent: 'lee', isAgentAway: false });
  while (view.isAgentAway === false) view = await kim.view(view.version);
  expect(view).toMatchObject({ phase: 'agent', isAgentAway: true });

  // Lee comes back, as after a reload.
  expect((await lee.until('agent')).dialogue.id).toBe(asked.dialogue.id);
  const mo = await served.agent('mo');
  expect((await mo.until('agent')).dialogue.id).toBe(asked.dialogue.id);
  expect((await lee.view()).phase).toBe('waiting');
});

it('continues with the same people when the server was stopped in the middle', async () => {
  const log = await openLog();
  {
    await using served = await serve(log);
    const kim = await served.developer('kim');
    await kim.act(start(kim));
    await say(await served.agent('lee'), 'One?');
    await reply(kim, 'First.');
    await kim.until('agent');
  }
  await using again = await serve(log);
  const kim = await again.developer('kim');
  await kim.until('agent');
  const lee = await again.agent('lee');
  await say(lee, 'Two?');
  expect((await kim.until('developer')).turns.map(({ visible }) => visible)).toEqual(['One?', 'Two?']);
  expect(log.list({ offset: 0, limit: 10 }).total).toBe(1);
});
