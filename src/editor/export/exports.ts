import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { ExportFormat, ExportOptions, ExportResult } from '../../core/trajectory/export/export';
import type { ExportPreview } from '../../core/trajectory/export/preview';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { exportScheme } from '../contributions';
import type { Engine } from '../engine';
import { cancellable, type Report } from '../progress';
import type { ShownLog } from '../shownLog';
import { dialogues, grouped } from '../trajectories/words';
import { askAboutFindings } from '../trust/findings';
import { calledFilter, filterWords, type ListFilter } from '../trajectories/filter';
import { chooseExport } from './choose';
import type { ExportChoice } from './preview';

const { t } = vscode.l10n;

const PREVIEWED_ROWS = 3;
/** The editor that draws Markdown; VS Code brings it. */
const RENDERED = 'vscode.markdown.preview.editor';

interface Previewed {
  /** Of the log that is exported, whichever is shown by the time that it is written. */
  readonly engine: Engine;
  /** The name of the engine's folder, where the window has several. */
  readonly folder: string | undefined;
  readonly choice: ExportChoice;
  readonly text: string;
  readonly shown: Pick<ExportPreview, 'rows' | 'findings' | 'digest'>;
}

/** Exports: what is chosen is first shown as a read-only document, and written from there. */
export class Exports implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly previews = new Map<string, Previewed>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: { dispose(): unknown }[];
  private made = 0;

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly log: ShownLog,
    private readonly showDialogue: (episode: string) => unknown,
  ) {
    this.registrations = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(exportScheme, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.previews.delete(uri.toString())),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const preview = this.previews.get(uri.toString());
    return preview?.text ?? `${t('This preview is of an earlier window. Export again to see a new one.')}\n`;
  }

  /** Asks what to export and shows the preview. @param filterOf what the list shows now of a log */
  async preview(filterOf: (log: TrajectoryLog) => Promise<ListFilter>): Promise<void> {
    const { engine, name: folder } = this.log;
    const log = await engine.log();
    const filter = await filterOf(log);
    const words = filterWords(calledFilter(filter, log, engine), t);
    const choice = await chooseExport(filter, words);
    if (choice === undefined) return;
    const previewed = await prepared({ engine, folder, choice });
    if (previewed === undefined) return;
    this.made += 1;
    const uri = vscode.Uri.from({ scheme: exportScheme, path: `/export-preview-${this.made}.md` });
    this.previews.set(uri.toString(), previewed);
    // As it reads, not as it is written; nothing in it is drawn that could carry data away.
    await vscode.commands.executeCommand('vscode.openWith', uri, RENDERED, {
      preview: false,
    } satisfies vscode.TextDocumentShowOptions);
    const { rows } = previewed.shown;
    if (rows === 0) {
      void vscode.window.showInformationMessage(
        t('There is nothing to export: the preview says what is left out.'),
      );
      return;
    }
    const save = t('Save…');
    const chosen = await vscode.window.showInformationMessage(
      t('{0} rows are ready. Nothing is written yet.', grouped(rows)),
      save,
    );
    if (chosen === save) await this.save(uri);
  }

  /**
   * Writes what a preview shows, and a card beside it.
   * @param uri the preview; by default the one in front
   */
  async save(uri = this.inFront): Promise<void> {
    const previewed = uri && this.previews.get(uri.toString());
    if (uri === undefined || previewed === undefined) {
      throw new Fault(
        'editor/no-preview',
        t('No preview of an export is open. Run “Tandem: Export Trajectories…” first.'),
      );
    }
    const { engine, choice, shown } = previewed;
    if (shown.rows === 0) {
      throw new Fault('editor/nothing-to-export', t('This export has no rows; choose others.'));
    }
    const show = (episode: string): unknown => this.showDialogue(episode);
    const findings = shown.findings.length === 0 ? 'refuse' : await askAboutFindings(shown.findings, show);
    if (findings === undefined) return;
    const folder = engine.configuration.folder?.uri;
    const target = await vscode.window.showSaveDialog({
      title: t('Save Export'),
      saveLabel: t('Export'),
      filters: { [t('JSON lines')]: ['jsonl'] },
      ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${choice.format}.jsonl`) }),
    });
    if (target === undefined) return;
    const result = await this.unlessChanged(uri, previewed, async () => {
      const log = await engine.log();
      const { exportTrajectories } = await import('../../core/trajectory/export/export');
      return cancellable(t('Exporting'), async (signal, report) =>
        exportTrajectories(log, target.fsPath, {
          ...(await optionsOf(engine, choice, signal, report)),
          ...{ findings, previewed: shown.digest },
        }),
      );
    });
    if (result === undefined) {
      void vscode.window.showInformationMessage(t('The export was cancelled; nothing was written.'));
      return;
    }
    const openFile = t('Open the File');
    const openCard = t('Open the Card');
    const chosen = await vscode.window.showInformationMessage(
      t(
        '{0} rows of {1} are in {2}.',
        grouped(result.rows),
        dialogues(result.trajectories, t),
        path.basename(result.file),
      ),
      openFile,
      openCard,
    );
    if (chosen === undefined) return;
    const opened = vscode.Uri.file(chosen === openFile ? result.file : result.card);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(opened));
  }

  dispose(): void {
    vscode.Disposable.from(...this.registrations).dispose();
  }

  private get inFront(): vscode.Uri | undefined {
    const { activeTabGroup, all } = vscode.window.tabGroups;
    return [activeTabGroup, ...all]
      .map(({ activeTab }) => activeTab?.input)
      .map((input) =>
        input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText
          ? input.uri
          : undefined,
      )
      .find((uri) => uri?.scheme === exportScheme);
  }

  /** Where the log holds other rows by now than a person has seen, they are shown instead of written. */
  private async unlessChanged(
    uri: vscode.Uri,
    previewed: Previewed,
    write: () => Promise<ExportResult | undefined>,
  ): Promise<ExportResult | undefined> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'trajectory/export-changed') throw error;
      const now = await prepared(previewed);
      if (now === undefined) return undefined;
      this.previews.set(uri.toString(), now);
      this.changed.fire(uri);
      throw new Fault(
        'editor/export-changed',
        t(
          'The log has changed since this preview was made, and nothing was written. The preview shows the rows as they are now: look at it and save again.',
        ),
        { cause: error },
      );
    }
  }
}

/** @returns undefined when the person cancelled it */
async function prepared({
  engine,
  folder,
  choice,
}: Pick<Previewed, 'engine' | 'folder' | 'choice'>): Promise<Previewed | undefined> {
  const log = await engine.log();
  const { previewExport } = await import('../../core/trajectory/export/preview');
  const { previewDocument } = await import('./preview');
  const shown = await cancellable(t('Preparing the preview'), async (signal, report) =>
    previewExport(log, await optionsOf(engine, choice, signal, report), PREVIEWED_ROWS),
  );
  if (shown === undefined) return undefined;
  const told = { ...choice, filter: calledFilter(choice.filter, log, engine) };
  return { engine, folder, choice, shown, text: previewDocument(shown, told, { folder, t }) };
}

async function optionsOf(
  engine: Engine,
  choice: ExportChoice,
  signal: AbortSignal,
  report: Report,
): Promise<ExportOptions> {
  const { format, ...selection } = choice;
  return {
    ...(await rowFormat(engine, format)),
    ...selection,
    mode: engine.gradingMode,
    signal,
    onProgress: ({ done, total }) =>
      report(t('{0} of {1}', grouped(done), dialogues(total, t)), done / total),
  };
}

async function rowFormat(engine: Engine, format: ExportFormat['format']): Promise<ExportFormat> {
  const { agentMessages } = await import('../../core/dialogue/conversation');
  const { parseAgentMessage } = await import('../../core/dialogue/protocol');
  const prompts = await engine.prompts();
  const render: (ExportFormat & { format: 'chat' })['render'] = ({ task, turns, started }) =>
    agentMessages(task, turns, started.protocol, prompts);
  if (format !== 'trajectories') return { format, render };
  return { format, render, visible: ({ agent }) => parseAgentMessage(agent.text).visible };
}
