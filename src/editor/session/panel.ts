import * as vscode from 'vscode';
import { simulatorModel } from '../../core/dialogue/specification/specificationSpec';
import { Fault } from '../../core/fault';
import { isOwnFunction } from '../../core/task/own';
import { isProgram } from '../../core/task/task';
import { actions, type Action, type FromWebview, type ToWebview } from '../../../webview/session/protocol';
import { idOf } from '../contributions';
import { columnBeside, documentUri, showBeside, type TaskPlace, openLink } from '../documents';
import type { Engine } from '../engine';
import type { FrameLayout, LayoutFrame } from '../pages';
import { Panel, type Asks } from '../panel';
import { askPseudonym, askReason, askSignal } from '../inputSteps';
import { skipReasons } from '../reasons';
import { continueFrom } from '../forking';
import { manageTrust } from '../workspaceTrust';
import type { Drafts } from './drafts';
import type { Session } from './session';

const { t } = vscode.l10n;

const MAX_LAYOUT_MS = 5000;

const tooSlow = (): Fault =>
  new Fault(
    'page/too-slow',
    `The page was not drawn within ${MAX_LAYOUT_MS / 1000} seconds. Make a simpler page.`,
  );

export interface SessionContext {
  readonly extension: vscode.Uri;
  readonly drafts: Drafts;
  nextTask(panel: SessionPanel): Promise<void>;
  replay(panel: SessionPanel): Promise<void>;
  onDidChange(panel: SessionPanel): void;
}

const commandsOf = {
  'open-guidelines': 'openGuidelines',
  teach: 'teachAgent',
  'choose-agent': 'chooseAgent',
  'choose-simulator': 'chooseSimulator',
  'set-key': 'setApiKey',
} as const;

export class SessionPanel extends Panel<FromWebview, ToWebview> implements LayoutFrame {
  private listening: { dispose: () => void };
  private isDrawn = false;
  private readonly layouts = new Map<number, (layout: FrameLayout) => void>();
  private lastLayout = 0;

  constructor(
    panel: vscode.WebviewPanel,
    public shown: Session,
    private readonly engine: Engine,
    private readonly on: SessionContext,
  ) {
    const icon = {
      light: vscode.Uri.joinPath(on.extension, 'media', 'session-light.svg'),
      dark: vscode.Uri.joinPath(on.extension, 'media', 'session-dark.svg'),
    };
    super(panel, { ...on, name: 'session', icon, errors: engine, actions });
    this.listening = this.listen(shown);
    this.title = shown.title;
    this.owns(engine.pages.addFrame(this));
  }

  async layOut(html: string): Promise<FrameLayout> {
    const id = ++this.lastLayout;
    const { promise, resolve, reject } = Promise.withResolvers<FrameLayout>();
    const timer = setTimeout(() => reject(tooSlow()), MAX_LAYOUT_MS);
    this.layouts.set(id, resolve);
    try {
      await this.post({ type: 'lay-out', id, html });
      return await promise;
    } finally {
      clearTimeout(timer);
      this.layouts.delete(id);
    }
  }

  show(session: Session): void {
    this.leave();
    this.shown = session;
    this.listening = this.listen(session);
    this.title = session.title;
    this.snapshot().catch((error: unknown) => this.engine.show(error));
    this.on.onDidChange(this);
  }

  async openBeside(kind: 'reference' | 'tests', preserveFocus: boolean): Promise<void> {
    const place = this.place;
    // A developer's own function has neither.
    if (place === undefined || isOwnFunction(this.shown.task) || this.hidesReference) return;
    if (kind === 'tests' && !isProgram(this.shown.task)) return;
    await showBeside(this.panel, documentUri(kind, this.shown.task, place), preserveFocus);
  }

  async openTranscript(): Promise<void> {
    const { id, task } = this.shown;
    if (id === undefined) return;
    await showBeside(this.panel, documentUri('dialogue', task, { episode: id }));
  }

  private leave(): void {
    this.listening.dispose();
    this.shown.dispose();
  }

  private listen(session: Session): { dispose: () => void } {
    return session.onMessage((message) => {
      this.send(message);
      if (message.type === 'suggestion' && session.id !== undefined) {
        // A hidden view does not get the message; it finds the suggestion in its draft when it is shown again.
        const kept = this.on.drafts.suggest(session.id, message.suggestion);
        kept.catch((error: unknown) => this.engine.show(error));
      }
      if (message.type === 'panel') this.tellEarlier().catch((error: unknown) => this.engine.report(error));
      this.on.onDidChange(this);
    });
  }

  private async snapshot(): Promise<void> {
    const { shown: session } = this;
    const draft = session.id === undefined ? { text: '' } : await this.on.drafts.read(session.id);
    await session.do({ type: 'drafted-by', simulator: draft.suggestion?.by });
    this.isDrawn = true;
    this.send({ ...session.snapshot, draft });
    await session.do({ type: 'compare-pages' });
    await this.tellEarlier();
  }

  private async tellEarlier(): Promise<void> {
    const { shown: session } = this;
    const replies = await session.earlierReplies();
    if (session === this.shown) this.send({ type: 'earlier', replies });
  }

  private send(message: ToWebview): void {
    // A view that is not there yet asks for everything when it is.
    if (this.isDrawn) void this.post(message);
  }

  protected override onClosed(): void {
    this.leave();
  }

  protected override onAsked(): void {
    this.send({ type: 'heard' });
  }

  override get asks(): Asks<FromWebview> {
    return {
      ...this.shown.asks,
      ready: () => this.snapshot(),
      reply: async (request) => {
        const { text, suggestion } = request.draft;
        await this.shown.do(request);
        if (suggestion === undefined || text.trim() === suggestion.text.trim()) return;
        // The dialogue goes on while the question stands.
        askSignal(this.engine.consent, 'edits').catch((error: unknown) => this.engine.report(error));
      },
      'laid-out': (message) => this.layouts.get(message.id)?.(message),
      copy: ({ text }) => vscode.env.clipboard.writeText(text),
      'open-link': ({ address }) => openLink(address),
      fork: ({ turn, by }) => {
        const { id } = this.shown;
        return id === undefined ? undefined : continueFrom(id, { turn, by });
      },
      act: ({ action }) => this.act(action),
    };
  }

  private async act(action: Action): Promise<void> {
    const { shown: session } = this;
    switch (action) {
      case 'end-now':
        return this.endNow();
      case 'skip':
        return this.skip();
      case 'open-reference':
        return this.openBeside('reference', false);
      case 'open-tests':
        return this.openBeside('tests', false);
      case 'open-transcript':
        return this.openTranscript();
      case 'compare':
        return this.compare();
      case 'next-task':
        return this.on.nextTask(this);
      case 'play-again':
        return this.on.replay(this);
      case 'manage-trust':
        return manageTrust();
      case 'show-log':
        this.engine.showReports();
        return;
      case 'edit-agent-connection':
        return this.editConnection(this.engine.agentName, 'chooseAgent');
      case 'edit-simulator-connection':
        return this.editConnection(simulatorModel(this.engine.simulatorName), 'chooseSimulator');
      case 'open-guidelines':
      case 'teach':
      case 'choose-agent':
      case 'choose-simulator':
      case 'set-key':
        return vscode.commands.executeCommand(idOf(commandsOf[action]));
      default:
        return session.do({ type: action });
    }
  }

  /** Edits the connection of a model. If it was removed meanwhile, another model is chosen. */
  private editConnection(spec: string, instead: 'chooseAgent' | 'chooseSimulator'): Thenable<void> {
    const server = this.engine.servers.find(spec);
    return server === undefined
      ? vscode.commands.executeCommand(idOf(instead))
      : vscode.commands.executeCommand(idOf('editConnection'), { kind: 'server', server });
  }

  private async endNow(): Promise<void> {
    if (!(await this.shown.mayEndNow())) return;
    const isOwn = isOwnFunction(this.shown.task);
    const detail = isOwn
      ? t(
          'The dialogue ends here. The code in the message is shown as a change of your file, to accept or reject.',
        )
      : t('The dialogue ends here and the answer is graded.');
    const button = isOwn ? t('End and Review') : t('End and Grade');
    const question = t("Take the agent's last message as its answer?");
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, button);
    if (chosen === button) await this.shown.do({ type: 'end-now' });
  }

  private async skip(): Promise<void> {
    const { shown: session } = this;
    const why = t(
      'A skip is logged with its reason. Choose a pseudonym first, and how your data may be shared.',
    );
    if ((await askPseudonym(this.engine, why)) === undefined) return;
    const reason = await askReason(t('Skip {0}', session.title), skipReasons(t));
    if (reason !== undefined) await session.do({ type: 'skip', reason });
  }

  private async compare(): Promise<void> {
    const { id, task, title } = this.shown;
    if (id === undefined || this.hidesReference) return;
    if (isOwnFunction(task)) {
      await vscode.commands.executeCommand(idOf('reviewAnswer'), { episode: id });
      return;
    }
    const place = { episode: id };
    await vscode.commands.executeCommand(
      'vscode.diff',
      documentUri('answer', task, place),
      documentUri('reference', task, place),
      t('{0}: answer ↔ reference', title),
      { viewColumn: columnBeside(this.panel) } satisfies vscode.TextDocumentShowOptions,
    );
  }

  /** A person who plays the agent sees neither the reference nor the tests before the answer. */
  private get hidesReference(): boolean {
    const { seat, phase } = this.shown.state;
    return seat === 'agent' && phase !== 'over';
  }

  private get place(): TaskPlace | undefined {
    const { id, from } = this.shown;
    if (id !== undefined) return { episode: id };
    return from.pack === undefined ? undefined : { pack: from.pack, task: from.task.id };
  }
}
