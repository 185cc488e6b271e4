import * as vscode from 'vscode';
import type { FromWebview, Shown } from '../../../webview/replay/protocol';
import { Fault } from '../../core/fault';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { commands } from '../contributions';
import type { Credits } from '../credit/credits';
import { logVerdict, type NewVerdict } from '../credit/verdicts';
import { documentUri } from '../documents';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { language } from '../language';
import { openLink } from '../link';
import { calledOf, modelsOf } from '../models/called';
import { showPage } from '../panelPage';
import { taskView } from '../session/view';
import { manageTrust } from '../trust/restricted';
import { creditsView } from './credit';
import { replayOf } from './view';

const { t } = vscode.l10n;

/** One webview panel that shows one dialogue of the log, or two of a task side by side. */
export class ReplayPanel {
  /** Of the latest message on the credit: an older one that comes later would show what is no longer so. */
  private told = 0;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    private shown: readonly string[],
    private readonly engines: Engines,
    private readonly credits: Credits,
    extension: vscode.Uri,
  ) {
    panel.iconPath = new vscode.ThemeIcon(shown.length === 2 ? 'split-horizontal' : 'history');
    showPage(panel, extension, {
      name: 'replay',
      receive: (message) => this.handle(message),
      failed: (error) => engines.first.show(error),
      report: (error) => engines.first.report(error),
    });
  }

  /** One, or two of a task. */
  get episodes(): readonly string[] {
    return this.shown;
  }

  reveal(preserveFocus = false): void {
    this.panel.reveal(undefined, preserveFocus);
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
    const trajectories = await this.trajectories(engine);
    const [first] = trajectories;
    if (first === undefined || trajectories.length < this.episodes.length) {
      this.dispose();
      return;
    }
    const { title, ...task } = taskView(first.task, first.started.pack);
    this.panel.title = trajectories.length === 2 ? t('{0}: two dialogues', title) : t('{0}: replay', title);
    const own = engine.consent.given?.pseudonym;
    const replays = trajectories.map((trajectory) => replayOf(trajectory, own, t, language()));
    const shown: Shown = {
      type: 'show',
      ...(own !== undefined && { own }),
      called: calledOf(replays.flatMap(modelsOf), engine),
      task: { title, ...task },
      replays,
    };
    await this.panel.webview.postMessage(shown);
    await this.showCredit(engine, trajectories);
  }

  /** After what was said, which it may take a moment to find out. */
  private async showCredit(engine: Engine, trajectories: readonly Trajectory[]): Promise<void> {
    this.told += 1;
    const { told } = this;
    const known = await this.credits.known(engine, trajectories);
    if (told !== this.told) return;
    const on = { own: engine.consent.given?.pseudonym, restriction: this.credits.restriction };
    await this.panel.webview.postMessage(creditsView(known, trajectories, on, t));
  }

  private async trajectories(engine: Engine): Promise<Trajectory[]> {
    const found = [];
    for await (const trajectory of (await engine.log()).trajectories(this.episodes)) found.push(trajectory);
    return found;
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
      case 'choose-critic':
        return this.chooseCritic();
      case 'score':
        return this.score();
      case 'manage-trust':
        return manageTrust();
      case 'judge':
        return this.judge(message.episode, { turn: message.turn, agrees: message.agrees ?? undefined });
    }
  }

  private async chooseCritic(): Promise<void> {
    const place = await this.credits.choice.choose(await this.engine());
    // Whoever chooses one wants to see what it says; where it may not run, the view says why.
    if (place !== undefined && this.credits.restriction === undefined) await this.score();
  }

  private async score(): Promise<void> {
    const engine = await this.engine();
    const trajectories = await this.trajectories(engine);
    if (await this.credits.compute(engine, trajectories)) await this.show();
  }

  private async judge(episode: string, verdict: NewVerdict): Promise<void> {
    const engine = await this.engine();
    const trajectories = await this.trajectories(engine);
    const known = await this.credits.known(engine, trajectories);
    const index = trajectories.findIndex(({ id }) => id === episode);
    const credit = known?.credits[index];
    if (credit?.turns.some(({ turn }) => turn === verdict.turn) === true)
      await logVerdict(engine, trajectories[index]!, credit, verdict);
    else this.note('a verdict on what no critic has said');
  }

  private note(what: string): void {
    const sentence = `The replay asked for ${what}. Nothing was done.`;
    this.engines.first.report(new Fault('editor/not-shown', sentence));
  }

  private async act({ action, episode }: Extract<FromWebview, { type: 'act' }>): Promise<void> {
    if (!this.episodes.includes(episode)) {
      this.note('a dialogue that it does not show');
      return;
    }
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
