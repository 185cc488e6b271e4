import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type {
  ExportFormat,
  ExportOptions,
  ExportResult,
  Finding,
  FindingsPolicy,
  ExportPreview,
} from '../../core/trajectory/export/export';
import { extensionOf, type FormatId } from '../../core/trajectory/export/formats';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { Owner } from '../background';
import { exportScheme } from '../contributions';
import { RENDERED } from '../documents';
import type { Engine } from '../engine';
import { cancellable, type Report } from '../progress';
import type { ShownLog } from '../engines';
import { grouped } from '../../core/text';
import { dialogues } from '../words';
import { calledFilter, filterWords, type ListFilter } from '../dialogue/filter';
import { chooseExport, previewDocument, type ExportChoice } from './choice';
import { placeOf } from '../../core/trajectory/findings/words';

const { t } = vscode.l10n;

const PREVIEWED_ROWS = 3;

interface Previewed {
  /** Engine of the exported log, whichever log is shown by the time it is written. */
  readonly engine: Engine;
  /** Name of the engine's folder; undefined unless the window has several. */
  readonly folder: string | undefined;
  readonly choice: ExportChoice;
  readonly text: string;
  readonly shown: Pick<ExportPreview, 'rows' | 'findings' | 'digest'>;
}

/** Shows the chosen export as a read-only document first, and writes it from there. */
export class Exports extends Owner implements vscode.TextDocumentContentProvider {
  private readonly previews = new Map<string, Previewed>();
  private made = 0;

  constructor(
    private readonly log: ShownLog,
    private readonly showDialogue: (episode: string) => unknown,
    private readonly publish: (file: string) => Promise<void>,
  ) {
    super();
    this.owns(
      vscode.workspace.registerTextDocumentContentProvider(exportScheme, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.previews.delete(uri.toString())),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const preview = this.previews.get(uri.toString());
    return preview?.text ?? `${t('This preview is from an earlier window. Export again for a new one.')}\n`;
  }

  /** @param filterOf returns the list's present filter for a log */
  async preview(filterOf: (log: TrajectoryLog) => Promise<ListFilter>): Promise<void> {
    const { engine, name: folder } = this.log;
    const log = await engine.log();
    const filter = await filterOf(log);
    const words = filterWords(calledFilter(filter, log, engine), t);
    const choice = await chooseExport(filter, words);
    if (choice === undefined) return;
    const previewed = await prepared({ engine, folder, choice });
    if (previewed === undefined) return;
    const uri = await this.show(previewed);
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

  private async show(previewed: Previewed): Promise<vscode.Uri> {
    this.made += 1;
    const uri = vscode.Uri.from({ scheme: exportScheme, path: `/export-preview-${this.made}.md` });
    this.previews.set(uri.toString(), previewed);
    // The document is rendered for reading; nothing in it is drawn that could carry data away.
    await vscode.commands.executeCommand('vscode.openWith', uri, RENDERED, {
      preview: false,
    } satisfies vscode.TextDocumentShowOptions);
    return uri;
  }

  /** Writes the previewed rows and a card beside them. @param uri of the preview; by default the active one */
  async save(uri = this.inFront): Promise<void> {
    const previewed = uri && this.previews.get(uri.toString());
    if (uri === undefined || previewed === undefined) {
      throw new Fault(
        'editor/no-preview',
        t('No preview of an export is open. Run “Tandem: Export Dialogues…” first.'),
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
    const extension = extensionOf(choice.format);
    const target = await vscode.window.showSaveDialog({
      title: t('Save Export'),
      saveLabel: t('Export'),
      filters: { [extension === 'json' ? t('Inspect AI log') : t('JSON lines')]: [extension] },
      ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${choice.format}.${extension}`) }),
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
      void vscode.window.showInformationMessage(t('The export was canceled; nothing was written.'));
      return;
    }
    const openFile = t('Open the File');
    const openCard = t('Open the Card');
    const publish = t('Publish…');
    const chosen = await vscode.window.showInformationMessage(
      t(
        '{0} rows of {1} are in {2}.',
        grouped(result.rows),
        dialogues(result.trajectories, t),
        path.basename(result.file),
      ),
      openFile,
      openCard,
      publish,
    );
    if (chosen === publish) return this.publish(result.file);
    if (chosen === undefined) return;
    const opened = vscode.Uri.file(chosen === openFile ? result.file : result.card);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(opened));
  }

  private get inFront(): vscode.Uri | undefined {
    const { activeTabGroup, all } = vscode.window.tabGroups;
    return [activeTabGroup, ...all]
      .map(({ activeTab }) => activeTab && shownIn(activeTab))
      .find((uri) => uri?.scheme === exportScheme);
  }

  /**
   * Shows the new rows instead of writing when the log has changed since the person saw the preview. The new preview is
   * a separate document, because the editor may show the old text of one that changes while it comes to the front.
   */
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
      await this.show(now);
      const old = vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .filter((tab) => shownIn(tab)?.toString() === uri.toString());
      await vscode.window.tabGroups.close(old, true);
      throw new Fault(
        'editor/export-changed',
        t(
          'Nothing was written, because the log has changed since this preview. Check the new preview, then save again.',
        ),
        { cause: error },
      );
    }
  }
}

function shownIn({ input }: vscode.Tab): vscode.Uri | undefined {
  return input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText
    ? input.uri
    : undefined;
}

async function prepared({
  engine,
  folder,
  choice,
}: Pick<Previewed, 'engine' | 'folder' | 'choice'>): Promise<Previewed | undefined> {
  const log = await engine.log();
  const { previewExport } = await import('../../core/trajectory/export/export');
  const shown = await cancellable(t('Preparing the preview'), async (signal, report) =>
    previewExport(log, await optionsOf(engine, choice, signal, report), PREVIEWED_ROWS),
  );
  if (shown === undefined) return undefined;
  const told = { ...choice, filter: calledFilter(choice.filter, log, engine) };
  return { engine, folder, choice, shown, text: previewDocument(shown, told, folder) };
}

async function optionsOf(
  engine: Engine,
  choice: ExportChoice,
  signal: AbortSignal,
  report: Report,
): Promise<ExportOptions> {
  const { format, ...selection } = choice;
  // The card says by which agents and dates the dialogues were chosen.
  const { run: _, lastDays: __, ...filter } = choice.filter;
  return {
    ...(await rowFormat(engine, format)),
    ...selection,
    filter,
    mode: engine.gradingMode,
    signal,
    onProgress: ({ done, total }) =>
      report(t('{0} of {1}', grouped(done), dialogues(total, t)), done / total),
  };
}

async function rowFormat(
  engine: Engine,
  format: FormatId,
): Promise<ExportFormat & Pick<ExportOptions, 'sawAnotherPrompt'>> {
  const { rendering } = await import('../../core/dialogue/conversation');
  const { parseAgentMessage } = await import('../../core/dialogue/protocol');
  const rendered = rendering(format, await engine.prompts());
  if (format !== 'trajectories') return { format, ...rendered };
  return { format, ...rendered, visible: ({ agent }) => parseAgentMessage(agent.text).visible };
}

type Choice = Exclude<FindingsPolicy, 'refuse'>;

/** Shows the findings masked, and asks what to do about them. @param show opens the dialogue of a finding */
async function askAboutFindings(
  findings: readonly Finding[],
  show: (episode: string) => unknown,
): Promise<Choice | undefined> {
  const found = new Set(findings.map(({ episode }) => episode)).size;
  const choices = [
    {
      label: `$(shield) ${t('Leave These Dialogues Out')}`,
      detail: t('Exports the rest and leaves out {0}.', dialogues(found, t)),
      choice: 'leave-out' as const,
    },
    {
      label: `$(warning) ${t('Export Everything')}`,
      detail: t('Everything listed below is written to the file unchanged.'),
      choice: 'write' as const,
    },
  ];
  const list = findings.map((finding) => ({
    label: `$(${finding.kind === 'secret' ? 'key' : 'mail'}) ${finding.what}`,
    description: placeOf(finding),
    detail: finding.excerpt,
    episode: finding.episode,
  }));
  const heading = { label: t('Found: {0}', findings.length), kind: vscode.QuickPickItemKind.Separator };
  const chosen = await vscode.window.showQuickPick<
    vscode.QuickPickItem & { choice?: Choice; episode?: string }
  >([...choices, heading, ...list], {
    title: t('Secrets and E-Mail Addresses in the Export'),
    placeHolder: t('Nothing is written yet. Choose what to do, or open a dialogue of the list.'),
    matchOnDescription: true,
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  if (chosen?.episode !== undefined) await show(chosen.episode);
  return chosen?.choice;
}
