import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { functionsIn } from '../../core/task/python/functions';
import { brought, withAnswer } from '../../core/task/python/placing';
import { Owner } from '../background';
import { answerScheme, contextKeys } from '../contributions';
import { showTitle, type OwnTests, type TestReport } from './ownTests';
import { proposalSchema, type Proposal } from '../ownFunctions';

const { t } = vscode.l10n;

export function proposed(source: string, { code, name, near }: Proposal): string {
  return withAnswer(source, code, { name, near });
}

export function changeOf(
  before: string,
  after: string,
): { readonly start: number; readonly end: number; readonly text: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let behind = 0;
  while (behind < most - start && before.at(-1 - behind) === after.at(-1 - behind)) behind += 1;
  return { start, end: before.length - behind, text: after.slice(start, after.length - behind) };
}

export interface AnswerDecision {
  readonly proposal: Proposal;
  /** The code that was put into the file; absent when the answer was rejected. */
  readonly accepted?: string;
}

/** An accepted answer was undone in its file, or redone. */
export interface Undone {
  readonly episode: string;
  readonly isUndone: boolean;
}

interface AcceptedTexts {
  /** URI of the file, as a string. */
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Shows answers as changes of a file, in the editor's own diff, to accept or to reject. The address of such a document
 * holds all of it, so that it survives a reload. Nothing is written into a file before a person accepts it, and then as
 * an edit that can be undone.
 */
export class Proposals extends Owner implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly decided = new vscode.EventEmitter<AnswerDecision>();
  /** Addresses of answers that are shown and not decided. */
  private readonly open = new Set<string>();
  /** Reports of answers that break tests, by the answer's address; a change of the file removes them. */
  private readonly breaking = new Map<string, TestReport>();

  /** Texts of files before and after an answer was accepted in this window, by the dialogue. */
  private readonly accepted = new Map<string, AcceptedTexts>();
  private readonly undone = new vscode.EventEmitter<Undone>();

  readonly onDidChange = this.changed.event;
  readonly onDidDecide = this.decided.event;
  readonly onDidUndo = this.undone.event;

  constructor(
    private readonly tests: OwnTests,
    private readonly fail: (error: unknown) => void,
  ) {
    super();
    this.owns(
      this.changed,
      this.decided,
      this.undone,
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
    this.setBreaking(uri, undefined);
    this.changed.fire(uri);
    await vscode.commands.executeCommand('vscode.diff', file.uri, uri, title, {
      preview: false,
      viewColumn: columnOf(file.uri),
    } satisfies vscode.TextDocumentShowOptions);
    void this.ask(uri, name).catch((error: unknown) => this.fail(error));
  }

  /** @param uri of the answer's document; by default that of the active diff */
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
    const { episode } = proposal;
    if (episode !== undefined) {
      this.accepted.set(episode, { file: proposal.file, before: source, after: file.getText() });
      this.undone.fire({ episode, isUndone: false });
    }
    await this.close(uri);
    const selection = new vscode.Range(at, at);
    await vscode.window.showTextDocument(file, { selection, viewColumn: columnOf(file.uri) });
    this.decided.fire({ proposal, accepted: brought(source, proposal.code, proposal) });
    void this.offerTests(file, proposal).catch((error: unknown) => this.fail(error));
  }

  async test(uri = lookedAt()): Promise<void> {
    if (uri === undefined) return;
    const proposal = proposalOf(uri);
    const file = await fileOf(proposal);
    const before = file.getText();
    const after = proposed(before, proposal);
    const report = await this.tests.compare(file, nameOf(proposal), { before, after });
    // The answer may have been decided meanwhile, or the file changed.
    if (report === undefined || !this.open.has(uri.toString())) return;
    const isOfNow = after === proposed(file.getText(), proposal);
    this.setBreaking(uri, report.isBroken && isOfNow ? report : undefined);
    await this.ask(uri, path.basename(file.fileName), report);
  }

  async reject(uri = lookedAt()): Promise<void> {
    if (uri === undefined) return;
    await this.close(uri);
    this.decided.fire({ proposal: proposalOf(uri) });
  }

  private async ask(uri: vscode.Uri, name: string, report?: TestReport): Promise<void> {
    const proposal = proposalOf(uri);
    const run = t('Run Tests');
    const canRun =
      report === undefined && (await this.tests.mayExist(await fileOf(proposal), nameOf(proposal)));
    const accept = report?.isBroken === true ? t('Accept Anyway') : t('Accept');
    const reject = t('Reject');
    const show = report === undefined ? undefined : showTitle(report);
    const sentence = report?.sentence ?? t('Insert the answer into {0}? You can undo it.', name);
    const buttons = [accept, reject, ...(canRun ? [run] : []), ...(show === undefined ? [] : [show])];
    const pressed = await (report?.isBroken === true
      ? vscode.window.showWarningMessage(sentence, ...buttons)
      : vscode.window.showInformationMessage(sentence, ...buttons));
    // The person may have used the buttons of the title before.
    if (pressed === undefined || !this.open.has(uri.toString())) return;
    // An earlier message still offers to accept as if nothing were known.
    const broken = this.breaking.get(uri.toString());
    if (pressed === accept && report === undefined && broken !== undefined) await this.ask(uri, name, broken);
    else if (pressed === run) await this.test(uri);
    else if (pressed === show && report !== undefined) await this.tests.showFailure(report);
    else await (pressed === accept ? this.accept(uri) : this.reject(uri));
  }

  /** Offers the tests after an answer was accepted; says nothing where the function has none. */
  private async offerTests(file: vscode.TextDocument, proposal: Proposal): Promise<void> {
    const name = nameOf(proposal);
    if (name === undefined || !(await this.tests.mayExist(file, name))) return;
    const run = t('Run Tests');
    const said = t('Inserted into {0}.', path.basename(file.fileName));
    if ((await vscode.window.showInformationMessage(said, run)) === run) await this.tests.run(file, name);
  }

  /** @param report undefined when the answer breaks no test that is known; otherwise the title's button says so */
  private setBreaking(uri: vscode.Uri, report: TestReport | undefined): void {
    const address = uri.toString();
    const wasBreaking = this.breaking.delete(address);
    if (report !== undefined) this.breaking.set(address, report);
    if (wasBreaking === (report !== undefined)) return;
    void vscode.commands.executeCommand('setContext', contextKeys.breakingAnswers, [...this.breaking.keys()]);
  }

  private async close(uri: vscode.Uri): Promise<void> {
    this.open.delete(uri.toString());
    this.setBreaking(uri, undefined);
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => answerIn(input)?.toString() === uri.toString());
    await vscode.window.tabGroups.close(tabs);
  }

  private follow(document: vscode.TextDocument): void {
    const file = document.uri.toString();
    for (const [episode, { before, after }] of [...this.accepted].filter(([, one]) => one.file === file)) {
      const text = document.getText();
      if (text === before || text === after) this.undone.fire({ episode, isUndone: text === before });
    }
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === answerScheme && proposalOf(uri).file === file) this.changed.fire(uri);
    }
    // The report was of another text. A diff behind other editors has no document, so all addresses are searched.
    for (const address of [...this.breaking.keys()]) {
      const uri = vscode.Uri.parse(address);
      if (proposalOf(uri).file === file) this.setBreaking(uri, undefined);
    }
  }
}

/** Returns the function that an answer is about; for an appended answer, the first that it defines. */
const nameOf = ({ name, code }: Proposal): string | undefined => name ?? functionsIn(code)[0]?.name;

/** Returns an address with the file's name, so that the answer is highlighted as the file is. */
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

/** Returns the column in which the file is shown, so that a session beside it stays in sight. */
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
