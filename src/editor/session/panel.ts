import * as vscode from 'vscode';
import { isOwnFunction } from '../../core/task/own';
import type { Action, FromWebview, ToWebview } from '../../../webview/session/protocol';
import { commands } from '../contributions';
import { documentUri, type TaskPlace } from '../documents';
import type { Engine } from '../engine';
import { openLink } from '../link';
import { showPage } from '../panelPage';
import { askSkipReason } from '../tasks/skip';
import { manageTrust } from '../trust/restricted';
import type { Drafts } from './drafts';
import { endingQuestion } from './ending';
import type { Session } from './session';

const { t } = vscode.l10n;

/** What a panel asks of whoever opened it. */
export interface PanelOwner {
  /** The next task of the same pack that was not played yet. */
  nextTask(panel: SessionPanel): Promise<void>;
  /** The same task once more, from the beginning. */
  replay(panel: SessionPanel): Promise<void>;
  onDidChange(panel: SessionPanel): void;
  onDidDispose(panel: SessionPanel): void;
}

/** One webview panel and the session it shows; also the native parts: questions, documents, the diff. */
export class SessionPanel {
  private session: Session;
  private listening: { dispose: () => void };
  private isReady = false;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    session: Session,
    private readonly engine: Engine,
    private readonly owner: PanelOwner,
    private readonly drafts: Drafts,
    extension: vscode.Uri,
  ) {
    this.session = session;
    this.listening = this.listen(session);
    panel.iconPath = {
      light: vscode.Uri.joinPath(extension, 'media', 'session-light.svg'),
      dark: vscode.Uri.joinPath(extension, 'media', 'session-dark.svg'),
    };
    panel.onDidDispose(() => {
      this.listening.dispose();
      this.session.dispose();
      owner.onDidDispose(this);
    });
    this.panel.title = session.title;
    showPage(panel, extension, {
      name: 'session',
      receive: (message) => {
        this.send({ type: 'heard' });
        return this.handle(message);
      },
      failed: (error) => engine.show(error),
      report: (error) => engine.report(error),
      // Else the page would hold a reply back that is nowhere on its way.
      onRefused: (kind) => this.send({ type: kind === 'reply' ? 'not-sent' : 'heard' }),
    });
  }

  get shown(): Session {
    return this.session;
  }

  /** Whether it has the focus, or had it last of all editors. */
  get isActive(): boolean {
    return this.panel.active;
  }

  /** Whether the view has said that it draws. */
  get drawn(): boolean {
    return this.isReady;
  }

  reveal(): void {
    this.panel.reveal();
  }

  /** Shows another session in the same place. */
  show(session: Session): void {
    this.listening.dispose();
    this.session.dispose();
    this.session = session;
    this.listening = this.listen(session);
    this.panel.title = session.title;
    this.snapshot().catch((error: unknown) => this.engine.show(error));
    this.owner.onDidChange(this);
  }

  dispose(): void {
    this.panel.dispose();
  }

  /** Opens the reference beside the session; the session keeps the focus. */
  async openBeside(kind: 'reference' | 'tests', preserveFocus: boolean): Promise<void> {
    const place = this.place;
    // Of a developer's own function there is neither.
    if (place === undefined || isOwnFunction(this.session.task)) return;
    const document = await vscode.workspace.openTextDocument(documentUri(kind, this.session.task, place));
    await vscode.window.showTextDocument(document, {
      viewColumn: this.besideColumn,
      preserveFocus,
      preview: true,
    });
  }

  /** Opens what was said so far as Markdown, beside the session. */
  async openTranscript(): Promise<void> {
    const { id, task } = this.session;
    if (id === undefined) return;
    const uri = documentUri('transcript', task, { episode: id });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: this.besideColumn, preview: true });
  }

  private listen(session: Session): { dispose: () => void } {
    return session.onMessage((message) => {
      this.send(message);
      if (message.type === 'suggestion' && session.id !== undefined) {
        // A view that is hidden does not hear of it, and finds it in its draft when it is shown again.
        const kept = this.drafts.suggest(session.id, message.suggestion);
        kept.catch((error: unknown) => this.engine.show(error));
      }
      if (message.type === 'panel') this.tellEarlier().catch((error: unknown) => this.engine.report(error));
      this.owner.onDidChange(this);
    });
  }

  private async snapshot(): Promise<void> {
    const { session } = this;
    const draft = session.id === undefined ? { text: '' } : await this.drafts.read(session.id);
    session.drafter = draft.suggestion?.by;
    this.isReady = true;
    this.send({ ...session.snapshot, draft });
    await this.tellEarlier();
  }

  private async tellEarlier(): Promise<void> {
    const { session } = this;
    const replies = await session.earlierReplies();
    if (session === this.session) this.send({ type: 'earlier', replies });
  }

  private send(message: ToWebview): void {
    // A view that is not there yet asks for everything when it is.
    if (this.isReady) void this.panel.webview.postMessage(message);
  }

  private async handle(message: FromWebview): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.snapshot();
      case 'start':
        return this.session.start(message.consent);
      case 'reply':
        return this.session.reply(message.draft, message.anyway);
      case 'draft':
        this.session.edited();
        return this.session.id === undefined ? undefined : this.drafts.write(this.session.id, message.draft);
      case 'choose':
        return this.session.choose(message.picked);
      case 'rate':
        return this.session.ratings.rate(message.change);
      case 'rate-turn':
        return this.session.ratings.rateTurn(message.turn, message.change);
      case 'copy':
        return vscode.env.clipboard.writeText(message.text);
      case 'open-link':
        return openLink(message.address);
      case 'act':
        return this.act(message.action);
    }
  }

  private async act(action: Action): Promise<void> {
    const { session } = this;
    switch (action) {
      case 'stop':
        return session.stop();
      case 'simulator-once':
        return session.simulatorOnce();
      case 'simulator-on':
        return session.simulatorOn();
      case 'take-seat':
        return session.takeSeat();
      case 'suggest':
        return session.suggest();
      case 'dont-mind':
        return session.dontMind();
      case 'another-sample':
        return session.anotherSample();
      case 'end-now':
        return this.endNow();
      case 'skip':
        return this.skip();
      case 'again':
        return session.again();
      case 'grade':
        return session.gradeAgain();
      case 'open-guidelines':
        return vscode.commands.executeCommand(commands.openGuidelines);
      case 'open-reference':
        return this.openBeside('reference', false);
      case 'open-tests':
        return this.openBeside('tests', false);
      case 'open-transcript':
        return this.openTranscript();
      case 'compare':
        return this.compare();
      case 'next-task':
        return this.owner.nextTask(this);
      case 'play-again':
        return this.owner.replay(this);
      case 'teach':
        return vscode.commands.executeCommand(commands.teachAgent);
      case 'choose-agent':
        return vscode.commands.executeCommand(commands.chooseAgent);
      case 'choose-simulator':
        return vscode.commands.executeCommand(commands.chooseSimulator);
      case 'manage-trust':
        return manageTrust();
      case 'show-log':
        this.engine.showReports();
        return;
      case 'set-key':
        return vscode.commands.executeCommand(commands.setApiKey);
    }
  }

  private async endNow(): Promise<void> {
    if (!this.session.mayEndNow()) return;
    const { question, detail, button } = endingQuestion(isOwnFunction(this.session.task), t);
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, button);
    if (chosen === button) await this.session.endNow();
  }

  private async skip(): Promise<void> {
    const { session } = this;
    const reason = await askSkipReason(session.title);
    if (reason !== undefined) await session.skip(reason);
  }

  private async compare(): Promise<void> {
    const { id, task, title } = this.session;
    if (id === undefined) return;
    if (isOwnFunction(task)) {
      await vscode.commands.executeCommand(commands.reviewAnswer, { episode: id });
      return;
    }
    const place = { episode: id };
    await vscode.commands.executeCommand(
      'vscode.diff',
      documentUri('answer', task, place),
      documentUri('reference', task, place),
      t('{0}: answer ↔ reference', title),
      { viewColumn: this.besideColumn } satisfies vscode.TextDocumentShowOptions,
    );
  }

  private get place(): TaskPlace | undefined {
    const { id, from } = this.session;
    if (id !== undefined) return { episode: id };
    return from.pack === undefined ? undefined : { pack: from.pack, task: from.task.id };
  }

  /** The column to the right of the session, which is not always the active one. */
  private get besideColumn(): vscode.ViewColumn {
    const { One, Two, Three, Beside } = vscode.ViewColumn;
    const own = columnOf(this.panel);
    if (own === One) return Two;
    return own === Two ? Three : Beside;
  }
}

/** A panel that comes back after a reload knows no column; its tab stands where it is. */
function columnOf({ viewType, title }: vscode.WebviewPanel): vscode.ViewColumn {
  const group = vscode.window.tabGroups.all.find(({ tabs }) =>
    tabs.some(
      ({ input, label }) =>
        input instanceof vscode.TabInputWebview && input.viewType.endsWith(viewType) && label === title,
    ),
  );
  return group?.viewColumn ?? vscode.ViewColumn.One;
}
