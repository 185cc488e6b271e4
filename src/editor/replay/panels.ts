import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import { replayViewType } from '../contributions';
import type { Credits } from '../credit/credits';
import type { Engines } from '../engines';
import { searchable } from '../panelPage';
import { ReplayPanel } from './panel';

const panelStateSchema = lazily(() => z.object({ episodes: z.array(z.string()).min(1).max(2) }));

/** The open replays, brought back after a reload of the window. They follow the log. */
export class ReplayPanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly panels = new Set<ReplayPanel>();
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly engines: Engines,
    private readonly credits: Credits,
  ) {
    this.disposables = [
      vscode.window.registerWebviewPanelSerializer(replayViewType, this),
      engines.onDidChangeLog(({ episodes }) => this.follow(episodes)),
      credits.choice.onDidChange(() => this.follow([])),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.follow([])),
    ];
  }

  get open(): readonly ReplayPanel[] {
    return [...this.panels];
  }

  /**
   * One dialogue to read, in the place of the one that was read before.
   * @param preserveFocus it stays where it is, so that a person can go on through a list
   */
  async replay(episode: string, preserveFocus = false): Promise<ReplayPanel> {
    const there = this.open.find(({ episodes }) => episodes.length === 1);
    if (there === undefined) return this.create([episode], preserveFocus);
    there.reveal(preserveFocus);
    if (there.episodes[0] !== episode) await there.turnTo(episode);
    return there;
  }

  /**
   * Two dialogues side by side.
   * @throws {Fault} `editor/other-task` when they are not of one task
   */
  async compare(first: string, second: string): Promise<ReplayPanel> {
    const log = await (await this.engines.withEpisode(first)).log();
    if (log.summary(first)?.taskId !== log.summary(second)?.taskId) {
      throw new Fault(
        'editor/other-task',
        vscode.l10n.t('These dialogues are about different tasks. Choose two of the same task.'),
      );
    }
    const there = this.open.find(({ episodes }) => episodes[0] === first && episodes[1] === second);
    if (there === undefined) return this.create([first, second]);
    there.reveal();
    return there;
  }

  /** Called by VS Code for each panel that was open before the reload. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const parsed = panelStateSchema().safeParse(state);
    // A panel that was closed before it drew anything has kept nothing.
    if (parsed.success) this.adopt(panel, parsed.data.episodes);
    else panel.dispose();
    return Promise.resolve();
  }

  dispose(): void {
    for (const panel of this.panels) panel.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private create(episodes: readonly string[], preserveFocus = false): ReplayPanel {
    const place = { viewColumn: vscode.ViewColumn.Active, preserveFocus };
    const panel = vscode.window.createWebviewPanel(replayViewType, '', place, searchable);
    return this.adopt(panel, episodes);
  }

  private adopt(panel: vscode.WebviewPanel, episodes: readonly string[]): ReplayPanel {
    const opened = new ReplayPanel(panel, episodes, this.engines, this.credits, this.extension);
    this.panels.add(opened);
    opened.onDidDispose(() => this.panels.delete(opened));
    return opened;
  }

  private follow(changed: readonly string[]): void {
    for (const panel of this.panels) {
      if (changed.length > 0 && !changed.some((id) => panel.episodes.includes(id))) continue;
      panel.show().catch((error: unknown) => this.engines.first.report(error));
    }
  }
}
