import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { answerScheme } from '../contributions';
import { changeOf, proposalSchema, proposed, type Proposal } from './proposal';

const { t } = vscode.l10n;

/** What a person did with an answer. */
export interface Decision {
  readonly proposal: Proposal;
  readonly isAccepted: boolean;
}

/**
 * Answers shown as changes of a file, in the editor's own diff, to accept or to reject. The address of such a document
 * says all of it, so that it survives a reload. Nothing is written into a file before a person accepts it, and then as an
 * edit that can be undone.
 */
export class Proposals implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly decided = new vscode.EventEmitter<Decision>();
  private readonly registration: vscode.Disposable;
  /** Those that are shown and nothing was said of. */
  private readonly open = new Set<string>();

  readonly onDidChange = this.changed.event;
  readonly onDidDecide = this.decided.event;

  constructor(private readonly fail: (error: unknown) => void) {
    this.registration = vscode.Disposable.from(
      this.changed,
      this.decided,
      vscode.workspace.registerTextDocumentContentProvider(answerScheme, this),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.follow(document)),
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const proposal = proposalOf(uri);
    return proposed((await fileOf(proposal)).getText(), proposal);
  }

  /** Shows the change, and asks once; the buttons of the editor's title stay. */
  async show(proposal: Proposal): Promise<void> {
    const uri = uriOf(proposal);
    const name = path.posix.basename(uri.path);
    const title = t('{0}: file ↔ answer', name);
    const file = await fileOf(proposal);
    this.open.add(uri.toString());
    this.changed.fire(uri);
    await vscode.commands.executeCommand('vscode.diff', file.uri, uri, title, {
      preview: false,
      viewColumn: columnOf(file.uri),
    } satisfies vscode.TextDocumentShowOptions);
    void this.ask(uri, name).catch((error: unknown) => this.fail(error));
  }

  /** @param uri of the answer's document; by default of the diff that is looked at */
  async accept(uri = lookedAt()): Promise<void> {
    if (uri === undefined) return;
    const proposal = proposalOf(uri);
    const file = await fileOf(proposal);
    const source = file.getText();
    const { start, end, text } = changeOf(source, proposed(source, proposal));
    const edit = new vscode.WorkspaceEdit();
    const at = file.positionAt(start);
    edit.replace(file.uri, new vscode.Range(at, file.positionAt(end)), text);
    if (!(await vscode.workspace.applyEdit(edit))) {
      throw new Fault(
        'editor/not-applied',
        t(
          '{0} could not be changed. Check whether it is read-only, then accept again.',
          path.basename(file.fileName),
        ),
      );
    }
    await this.close(uri);
    const selection = new vscode.Range(at, at);
    await vscode.window.showTextDocument(file, { selection, viewColumn: columnOf(file.uri) });
    this.decided.fire({ proposal, isAccepted: true });
  }

  async reject(uri = lookedAt()): Promise<void> {
    if (uri === undefined) return;
    await this.close(uri);
    this.decided.fire({ proposal: proposalOf(uri), isAccepted: false });
  }

  dispose(): void {
    this.registration.dispose();
  }

  private async ask(uri: vscode.Uri, name: string): Promise<void> {
    const [accept, reject] = [t('Accept'), t('Reject')];
    const pressed = await vscode.window.showInformationMessage(
      t('Insert the answer into {0}? You can undo it.', name),
      accept,
      reject,
    );
    // The buttons of the title may have been faster.
    if (pressed === undefined || !this.open.has(uri.toString())) return;
    await (pressed === accept ? this.accept(uri) : this.reject(uri));
  }

  private async close(uri: vscode.Uri): Promise<void> {
    this.open.delete(uri.toString());
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => answerIn(input)?.toString() === uri.toString());
    await vscode.window.tabGroups.close(tabs);
  }

  /** The file may be changed while the diff is open. */
  private follow(document: vscode.TextDocument): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === answerScheme && proposalOf(uri).file === document.uri.toString())
        this.changed.fire(uri);
    }
  }
}

/** It has the file's name, so that it is highlighted as the file is. */
function uriOf(proposal: Proposal): vscode.Uri {
  const { path: name } = vscode.Uri.parse(proposal.file);
  return vscode.Uri.from({ scheme: answerScheme, path: name, query: JSON.stringify(proposal) });
}

function proposalOf(uri: vscode.Uri): Proposal {
  return proposalSchema().parse(JSON.parse(uri.query));
}

/** @throws {Fault} `editor/no-file` */
async function fileOf({ file }: Proposal): Promise<vscode.TextDocument> {
  const uri = vscode.Uri.parse(file);
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch (error) {
    throw new Fault(
      'editor/no-file',
      t('{0} cannot be opened; the answer is still in the dialogue.', vscode.workspace.asRelativePath(uri)),
      { cause: error },
    );
  }
}

/** Where the file is shown, so that a session beside it stays in sight. */
function columnOf(file: vscode.Uri): vscode.ViewColumn {
  const group = vscode.window.tabGroups.all.find(({ tabs }) =>
    tabs.some(
      ({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === file.toString(),
    ),
  );
  return group?.viewColumn ?? vscode.ViewColumn.One;
}

function lookedAt(): vscode.Uri | undefined {
  return answerIn(vscode.window.tabGroups.activeTabGroup.activeTab?.input);
}

function answerIn(input: unknown): vscode.Uri | undefined {
  const uri = input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
  return uri?.scheme === answerScheme ? uri : undefined;
}
