import * as vscode from 'vscode';
import type { FromWebview, ToWebview } from '../../../webview/replay/protocol';
import { Fault } from '../../core/fault';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { commands } from '../contributions';
import { documentUri } from '../documents';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { language } from '../language';
import { openLink } from '../link';
import { pageHtml } from '../page';
import { taskView } from '../session/view';
import { replayOf } from './view';

const { t } = vscode.l10n;

/** One webview panel that shows one dialogue of the log, or two of a task side by side. */
export class ReplayPanel {
  constructor(
    private readonly panel: vscode.WebviewPanel,
    private shown: readonly string[],
    private readonly engines: Engines,
    extension: vscode.Uri,
  ) {
    const folder = vscode.Uri.joinPath(extension, 'dist', 'webview');
    panel.webview.options = { enableScripts: true, localResourceRoots: [folder] };
    panel.iconPath = new vscode.ThemeIcon(shown.length === 2 ? 'split-horizontal' : 'history');
    panel.webview.onDidReceiveMessage((message: FromWebview) => {
      this.handle(message).catch((error: unknown) => engines.first.show(error));
    });
    panel.webview.html = pageHtml(panel.webview, folder, 'replay');
  }

  /** One, or two of a task. */
  get episodes(): readonly string[] {
    return this.shown;
  }

  reveal(): void {
    this.panel.reveal();
  }

  /** Shows another dialogue in the same place. */
  async turnTo(episode: string): Promise<void> {
    this.shown = [episode];
    await this.show();
  }

  dispose(): void {
    this.panel.dispose();
  }

  onDidDispose(listener: () => void): void {
    this.panel.onDidDispose(listener);
  }

  /** Shows what the log says now; closes when one of the dialogues is gone. */
  async show(): Promise<void> {
    const engine = await this.engine();
    const log = await engine.log();
    const trajectories = [];
    for await (const trajectory of log.trajectories(this.episodes)) trajectories.push(trajectory);
    const [first] = trajectories;
    if (first === undefined || trajectories.length < this.episodes.length) {
      this.dispose();
      return;
    }
    const { title, ...task } = taskView(first.task, first.started.pack);
    this.panel.title = trajectories.length === 2 ? t('{0}: two dialogues', title) : t('{0}: replay', title);
    const own = engine.consent.given?.pseudonym;
    const shown: ToWebview = {
      type: 'show',
      ...(own !== undefined && { own }),
      task: { title, ...task },
      replays: trajectories.map((trajectory) => replayOf(trajectory, own, t, language())),
    };
    await this.panel.webview.postMessage(shown);
  }

  /** Two dialogues that are compared are of one log. */
  private engine(): Promise<Engine> {
    return this.engines.withEpisode(this.shown[0]!);
  }

  private async handle(message: FromWebview): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.show();
      case 'copy':
        return vscode.env.clipboard.writeText(message.text);
      case 'open-link':
        return openLink(message.address);
      case 'act':
        return this.act(message);
    }
  }

  private async act({ action, episode }: Extract<FromWebview, { type: 'act' }>): Promise<void> {
    const log = await (await this.engine()).log();
    const trajectory = await log.trajectory(episode);
    const summary = log.summary(episode);
    if (trajectory === undefined || summary === undefined) {
      throw new Fault(
        'editor/no-trajectory',
        t('The log has no dialogue {0}; it may have been deleted.', episode),
      );
    }
    const { task } = trajectory;
    const node = { kind: 'trajectory', summary };
    switch (action) {
      case 'open-reference':
        return this.beside(documentUri('reference', task, { episode }));
      case 'open-tests':
        return this.beside(documentUri('tests', task, { episode }));
      case 'open-transcript':
        return vscode.commands.executeCommand(commands.openTranscript, node);
      case 'open-session':
        return vscode.commands.executeCommand(commands.openSession, node);
      case 'compare-with':
        return vscode.commands.executeCommand(commands.compareTrajectory, node);
      case 'compare-with-reference':
        return this.diff(trajectory, documentUri('reference', task, { episode }), (title) =>
          t('{0}: answer ↔ reference', title),
        );
      case 'compare-answers': {
        const other = this.episodes.find((one) => one !== episode) ?? episode;
        return this.diff(trajectory, documentUri('answer', task, { episode: other }), (title) =>
          t('{0}: two answers', title),
        );
      }
    }
  }

  private async diff(
    { id, task, started }: Trajectory,
    right: vscode.Uri,
    titled: (task: string) => string,
  ): Promise<void> {
    const { title } = taskView(task, started.pack);
    const left = documentUri('answer', task, { episode: id });
    const where: vscode.TextDocumentShowOptions = { viewColumn: this.besideColumn };
    await vscode.commands.executeCommand('vscode.diff', left, right, titled(title), where);
  }

  private async beside(uri: vscode.Uri): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: this.besideColumn, preview: true });
  }

  /** The column to the right of the replay, which is not always the active one. */
  private get besideColumn(): vscode.ViewColumn {
    return this.panel.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Two : vscode.ViewColumn.Beside;
  }
}
