import type * as vscode from 'vscode';
import { beforeEach, expect, it, vi } from 'vitest';
import { ownTask } from '../../../../src/core/task/own';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { AskedConsent } from '../../../../src/editor/consent';
import type { Engines } from '../../../../src/editor/engines';
import { Collaborations } from '../../../../src/editor/own/collaborations';
import type { AnswerDecision, Proposals, Undone } from '../../../../src/editor/own/proposals';
import { agentTurn, answered, kim, openLog, started } from '../../../fixtures/log';
import { EditorMemory } from '../stage';
import { EventEmitter, Uri, window, workspace } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const code = 'def price(weight):\n    return 5\n';
const after = 'RATE = 1\n\n\ndef price(weight):\n    return 7 * RATE\n';
const proposal = { file: 'file:///shop.py', name: 'price', near: 0, code, episode: 'own' };

/** An editor in which the answer of a dialogue about an own function is shown. */
class Editor {
  readonly decided = new EventEmitter<AnswerDecision>();
  readonly undone = new EventEmitter<Undone>();
  readonly changed = new EventEmitter<void>();
  private passedMs = 0;
  readonly configuration = { survivalMs: 3_600_000, onDidChange: this.changed.event };

  private constructor(
    private readonly opened: TrajectoryLog,
    readonly consent: AskedConsent,
    private readonly memory: EditorMemory,
  ) {}

  static async open(): Promise<Editor> {
    const log = await openLog();
    const memory = new EditorMemory();
    const consent = new AskedConsent(memory, () => Promise.resolve(log));
    await consent.give({ pseudonym: 'kim', purpose: 'a test', level: 'export' });
    const task = ownTask('The price of a parcel.', 'def price(weight):');
    await log.recordTask(task);
    await log.appendAll([
      started('own', { collaborator: kim, task: task.id }),
      agentTurn('own', 1),
      answered('own', 1, code),
    ]);
    const editor = new Editor(log, consent, memory);
    const { configuration, decided, undone } = editor;
    const report = (error: unknown): void => expect.unreachable(String(error));
    const engine = { configuration, consent, report, show: report, log: () => Promise.resolve(log) };
    new Collaborations(
      memory as unknown as vscode.Memento,
      { first: engine, withEpisode: () => Promise.resolve(engine) } as unknown as Engines,
      { open: [], onDidChangePanel: new EventEmitter().event, openOwn: () => Promise.resolve() } as never,
      { onDidDecide: decided.event, onDidUndo: undone.event } as unknown as Proposals,
      () => Date.now() + editor.passedMs,
    );
    return editor;
  }

  /** Accepts the answer, presses a button if Tandem asks about own code, and lets the time of the measurement come. */
  async accept(pressed: string): Promise<void> {
    window.showInformationMessage.mockReset().mockResolvedValue(pressed);
    this.configuration.survivalMs = 3_600_000;
    this.decided.fire({ proposal, accepted: code });
    await expect.poll(() => this.outcome()).toMatchObject({ outcome: 'accepted' });
    const answer = pressed === 'Later' ? undefined : pressed === 'Yes';
    await expect.poll(() => this.consent.answerTo('own-code')).toBe(answer);
    this.configuration.survivalMs = 0;
    this.changed.fire();
    await expect.poll(() => this.outcome()).toMatchObject({ outcome: 'edited', survived: 0.5 });
  }

  /** A day passes, and the file is then as given. */
  dayLater(source: string): void {
    Object.assign(workspace, { openTextDocument: () => Promise.resolve({ getText: () => source }) });
    this.passedMs += 86_400_000;
    this.changed.fire();
  }

  /** Number of answers that are still to be measured. */
  pending(): number {
    return (this.memory.get('tandem.acceptedAnswers') as readonly unknown[]).length;
  }

  async outcome(): Promise<object | undefined> {
    return (await this.opened.trajectory('own'))?.outcome;
  }
}

const ownCode = expect.stringContaining(
  'May dialogues about your own code train your own models? They stay on this machine.',
) as string;

let editor: Editor;
beforeEach(async () => {
  Object.assign(Uri, { parse: (text: string) => ({ fsPath: text }) });
  Object.assign(workspace, { openTextDocument: () => Promise.resolve({ getText: () => after }) });
  editor = await Editor.open();
});

it('logs the function after the edits once its person has agreed, and asks no second time', async () => {
  await editor.accept('Yes');
  expect(window.showInformationMessage).toHaveBeenCalledExactlyOnceWith(ownCode, 'Yes', 'No', 'Later');
  expect(await editor.outcome()).toMatchObject({ code: 'def price(weight):\n    return 7 * RATE' });
  await editor.accept('Yes');
  const ofOutcomes = expect.stringContaining('May what becomes of answers in your own files') as string;
  expect(window.showInformationMessage).toHaveBeenCalledExactlyOnceWith(ofOutcomes, 'Yes', 'No', 'Later');
  await editor.accept('Yes');
  expect(window.showInformationMessage).not.toHaveBeenCalled();
});

it('logs no code after a No, and asks no second time', async () => {
  await editor.accept('No');
  expect(await editor.outcome()).not.toHaveProperty('code');
  await editor.accept('No');
  expect(window.showInformationMessage).not.toHaveBeenCalledWith(ownCode, 'Yes', 'No', 'Later');
});

it('asks again after Later, and logs no code meanwhile', async () => {
  await editor.accept('Later');
  expect(await editor.outcome()).not.toHaveProperty('code');
  await editor.accept('Later');
  expect(window.showInformationMessage).toHaveBeenCalledExactlyOnceWith(ownCode, 'Yes', 'No', 'Later');
});

it('measures again after a day, and keeps the function as it was at first', async () => {
  await editor.accept('Yes');
  editor.dayLater('def price(weight):\n    return 5\n');
  await expect.poll(() => editor.outcome()).toMatchObject({ outcome: 'accepted', survived: 1 });
  const { milliseconds, code: kept } = (await editor.outcome()) as { milliseconds: number; code: string };
  expect(milliseconds).toBeGreaterThanOrEqual(86_400_000);
  expect(kept).toBe('def price(weight):\n    return 7 * RATE');
});

it('leaves an answer rejected that was accepted before', async () => {
  await editor.accept('No');
  editor.decided.fire({ proposal, accepted: undefined });
  await expect.poll(() => editor.outcome()).toMatchObject({ outcome: 'rejected' });
  await expect.poll(() => editor.pending()).toBe(0);
  editor.dayLater(after);
  expect(await editor.outcome()).not.toHaveProperty('survived');
});
