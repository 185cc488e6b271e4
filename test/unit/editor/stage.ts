import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { SampledAgent } from '../../../src/core/dialogue/sample';
import type { Prompts } from '../../../src/core/dialogue/prompts';
import { colBenchProtocol } from '../../../src/core/dialogue/protocol';
import { RulesSimulator, type Simulator } from '../../../src/core/dialogue/simulator';
import type { Grader } from '../../../src/core/grading/grader';
import type { PageReader } from '../../../src/core/page/outline';
import type { PageView } from '../../../webview/pages/protocol';
import type { Model } from '../../../src/core/model/model';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Trajectory, TrajectorySummary } from '../../../src/core/trajectory/trajectory';
import { AskedConsent, type Memory } from '../../../src/editor/consent';
import type { SessionParts } from '../../../src/editor/session/dialogueLink';
import { Drafts } from '../../../src/editor/session/drafts';
import { Session } from '../../../src/editor/session/session';
import type { ToWebview } from '../../../webview/session/protocol';
import { scripted, shippedPrompts, starterPack, starterTask } from '../../fixtures/dialogue';
import { reader } from '../../fixtures/pages';
import { buildSandbox, type Sandbox } from '../../fixtures/sandbox';
import { english } from './translate';

/** A developer who has consented to logging. */
export const ada = { pseudonym: 'ada', purpose: 'a test', level: 'local' } as const;

/** An answer to the first task that passes all its tests. */
export const right = `def parcel_price(weight_kg, zone):
    base = {1: 5, 2: 8, 3: 12}.get(zone)
    if base is None:
        return -1
    return base + 4.5 if weight_kg > 20 else base`;

/** The real grader. All stages of a file share it, because it takes a second to start and has no state. */
let shared: Promise<{ sandbox: Sandbox; grader: Grader }> | undefined;

async function sharedGrader(): Promise<Grader> {
  shared ??= buildSandbox().then(async (sandbox) => ({
    sandbox,
    grader: await sandbox.open({ workers: 1 }),
  }));
  return (await shared).grader;
}

afterAll(async () => (await shared)?.sandbox.close());

/** The editor's stored state, in memory. */
export class EditorMemory implements Memory {
  private readonly values = new Map<string, unknown>();

  get(key: string): unknown {
    return this.values.get(key);
  }

  update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
    return Promise.resolve();
  }
}

/** All dependencies of a session, real except for the editor. */
export class Stage implements SessionParts {
  readonly t = english;
  protocol = colBenchProtocol;
  readonly sampling = { temperature: 1, maxTokens: 500 };
  readonly gradingMode = 'fixed';
  pages: PageReader = reader;
  pageParts = () => Promise.resolve({ pages: this.pages });
  showsCounters = true;
  showsCandidates = false;
  restriction: string | undefined;
  agent: Model | undefined;
  secondAgent: Model | undefined;
  simulator: Simulator | undefined = new RulesSimulator();
  /** Display names of connections and runs, by the models' names in the settings. */
  readonly names = new Map<string, string>();
  readonly reported: unknown[] = [];
  readonly consent: AskedConsent;
  readonly drafts: Drafts;
  private readonly others: TrajectoryLog[] = [];

  private constructor(
    readonly folder: string,
    private readonly opened: TrajectoryLog,
    private readonly memory = new EditorMemory(),
  ) {
    this.consent = new AskedConsent(memory, () => Promise.resolve(opened));
    this.drafts = new Drafts(path.join(folder, 'drafts'), (error) => this.report(error));
  }

  static async set(): Promise<Stage> {
    const folder = await mkdtemp(path.join(tmpdir(), 'tandem-session-'));
    return new Stage(folder, await TrajectoryLog.open(path.join(folder, '.tandem')));
  }

  /** Makes another window of the same editor on the same folder. */
  async otherWindow(): Promise<Stage> {
    const log = await TrajectoryLog.open(this.dataFolder);
    this.others.push(log);
    const window = new Stage(this.folder, log, this.memory);
    Object.assign(window, {
      agent: this.agent,
      secondAgent: this.secondAgent,
      showsCandidates: this.showsCandidates,
    });
    return window;
  }

  get dataFolder(): string {
    return path.join(this.folder, '.tandem');
  }

  async clear(): Promise<void> {
    for (const log of this.others) await log.close();
    await this.opened.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Makes a session of the handwritten pack's first task; its dialogue has not begun. */
  async session(): Promise<Session> {
    const from = { task: await starterTask(), pack: starterPack, packName: 'written-by-hand.jsonl' };
    return Session.ofTask(this, from, this.drafts);
  }

  /** Makes a session as after a reload of the window, from the log only. */
  async reloaded(id: string | undefined): Promise<Session> {
    return Session.ofTrajectory(this, await this.trajectory(id), { pack: starterPack }, this.drafts);
  }

  async trajectory(id: string | undefined): Promise<Trajectory> {
    const trajectory = await this.opened.trajectory(id ?? 'none');
    if (trajectory === undefined) throw new Error(`The log has no dialogue ${id ?? 'without a name'}.`);
    return trajectory;
  }

  /** Makes a session with an agent that sends these turns, and waits until it is the developer's move. */
  async begun(...turns: string[]): Promise<Session> {
    this.agent = await scripted(this.folder, turns);
    const session = await this.session();
    await session.do({ type: 'start', consent: ada });
    return session;
  }

  /** Resolves when a message of the agent or the simulator arrives. */
  static heard(session: Session, by: 'agent' | 'simulator'): Promise<void> {
    return new Promise((resolve) => {
      const listening = session.onMessage((message) => {
        if (message.type !== 'stream' || message.stream?.by !== by) return;
        listening.dispose();
        resolve();
      });
    });
  }

  /** Collects all messages of a session from now on. */
  static messagesOf(session: Session): ToWebview[] {
    const messages: ToWebview[] = [];
    session.onMessage((message) => messages.push(message));
    return messages;
  }

  /** Returns the present summary of a dialogue in the log's list. */
  summary(id: string): TrajectorySummary | undefined {
    return this.opened.summary(id);
  }

  isConnected(): boolean {
    return false;
  }

  get agentName(): string {
    return this.agent?.name ?? '';
  }

  calledBy(name: string): string {
    return this.names.get(name) ?? name;
  }

  get secondAgentName(): string {
    return this.secondAgent?.name ?? '';
  }

  get simulatorName(): string {
    return this.simulator?.name ?? '';
  }

  log(): Promise<TrajectoryLog> {
    return Promise.resolve(this.opened);
  }

  openAgent(): Promise<Model> {
    return this.agent === undefined
      ? Promise.reject(new Error('No agent is set.'))
      : Promise.resolve(this.agent);
  }

  openSecondAgent(): Promise<SampledAgent | undefined> {
    const { secondAgent: agent, sampling } = this;
    return Promise.resolve(agent && { agent, sampling });
  }

  openSimulator(): Promise<Simulator | undefined> {
    return Promise.resolve(this.simulator);
  }

  prompts(): Promise<Prompts> {
    return shippedPrompts();
  }

  grader(): Promise<Grader> {
    return sharedGrader();
  }

  drawPage(html: string): PageView {
    return { html };
  }

  report(error: unknown): void {
    this.reported.push(error);
  }
}
