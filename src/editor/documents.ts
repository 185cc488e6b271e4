import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../core/fault';
import { lazily } from '../core/lazily';
import { isProgram, type Task, testsOf as casesOf } from '../core/task/task';
import type { Trajectory } from '../core/trajectory/trajectory';
import { documentScheme } from './contributions';
import type { Engine } from './engine';
import type { Engines, ShownLog } from './engines';
import type { Packs } from './packs';
import { taskTitle } from '../core/task/title';
import { noTrajectory } from './logs';
import { helpPages, type HelpPage } from '../../webview/ui/protocol';
import { Owner } from './background';

const { t } = vscode.l10n;

type Kind = (typeof kinds)[number];

export const RENDERED = 'vscode.markdown.preview.editor';

export const useUri = vscode.Uri.from({ scheme: documentScheme, path: '/models/use-and-cost.md' });

const placeSchema = lazily(() =>
  z.union([z.object({ episode: z.string() }), z.object({ pack: z.string(), task: z.string() })]),
);
export type TaskPlace = z.infer<ReturnType<typeof placeSchema>>;
const kinds = ['reference', 'tests', 'answer', 'dialogue'] as const;

/** Returns the address of a read-only document; it names the source of the content, so that it survives a reload. */
export function documentUri(kind: Kind, task: Task, place: TaskPlace): vscode.Uri {
  const name = taskTitle(task)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  const ending = isProgram(task) ? 'py' : 'html';
  return vscode.Uri.from({
    scheme: documentScheme,
    path: `/${kind}/${name}.${kind}.${kind === 'dialogue' ? 'md' : ending}`,
    query: JSON.stringify(place),
  });
}

export class Documents extends Owner implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Engines,
    private readonly packs: Packs,
    private readonly texts: {
      transcript(trajectory: Trajectory, engine: Engine): Promise<string>;
      modelUse(shown: ShownLog): Promise<string>;
    },
  ) {
    super();
    this.owns(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(documentScheme, this),
      engines.onDidChangeLog(({ episodes }) => this.follow(episodes)),
      engines.first.onDidChangeModels(() => this.changed.fire(useUri)),
      engines.shown.onDidChange(() => this.changed.fire(useUri)),
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.path === useUri.path) return this.texts.modelUse(this.engines.shown);
    const kind = kinds.find((one) => uri.path.startsWith(`/${one}/`));
    const place = placeSchema().parse(JSON.parse(uri.query));
    switch (kind) {
      case 'reference':
        return ended((await this.task(place)).reference);
      case 'tests':
        return testsOf(await this.task(place));
      case 'answer':
        return this.answer(place);
      case 'dialogue':
        return this.transcript(place);
      case undefined:
        throw new Fault('editor/no-document', t('Tandem has no document at {0}.', uri.toString()));
    }
  }

  private async task(place: TaskPlace): Promise<Task> {
    if ('episode' in place) return (await this.logged(place.episode)).trajectory.task;
    const task = await this.packs.task(place.pack, place.task);
    if (task === undefined) {
      const pack = vscode.workspace.asRelativePath(place.pack);
      throw new Fault('editor/no-task', t('The pack {0} no longer has the task {1}.', pack, place.task));
    }
    return task;
  }

  private async logged(episode: string): Promise<{ trajectory: Trajectory; engine: Engine }> {
    const engine = await this.engines.withEpisode(episode);
    const trajectory = await (await engine.log()).trajectory(episode);
    if (trajectory !== undefined) return { trajectory, engine };
    throw noTrajectory(episode);
  }

  private async answer(place: TaskPlace): Promise<string> {
    if (!('episode' in place)) return '';
    const { trajectory, engine } = await this.logged(place.episode);
    const { answer, grades, task } = trajectory;
    if (answer === undefined) return '';
    // The answer to a page task is the page itself.
    if (!isProgram(task)) return ended(answer.answer);
    const { extractCode } = await import('../core/grading/code');
    const calls = casesOf(task).map(({ call }) => call);
    return ended(extractCode(answer.answer, grades.at(-1)?.grade.mode ?? engine.gradingMode, calls));
  }

  private async transcript(place: TaskPlace): Promise<string> {
    if (!('episode' in place)) return '';
    const { trajectory, engine } = await this.logged(place.episode);
    return this.texts.transcript(trajectory, engine);
  }

  private follow(episodes: readonly string[]): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.toString() === useUri.toString()) this.changed.fire(uri);
      if (uri.scheme !== documentScheme || !/^\/(answer|dialogue)\//.test(uri.path)) continue;
      if (episodes.length === 0 || episodes.some((id) => uri.query.includes(id))) this.changed.fire(uri);
    }
  }
}

function testsOf(task: Task): string {
  const lines = casesOf(task).map(({ name, call }) => `# ${name.replace(/\s+/g, ' ')}\n${call}`);
  const head = `# ${t('Tests for the answer. Each call must return what the reference returns.')}`;
  return ended([head, ...lines].join('\n\n'));
}

const ended = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** A reference that a session has opened to the side stays there, in a preview, when the person goes elsewhere. */
export async function closeReferences(isMeant: (place: TaskPlace) => boolean): Promise<void> {
  const previews = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => tab.isPreview);
  const meant = previews.filter(({ input }) => {
    if (!(input instanceof vscode.TabInputText) || input.uri.scheme !== documentScheme) return false;
    return (
      input.uri.path.startsWith('/reference/') && isMeant(placeSchema().parse(JSON.parse(input.uri.query)))
    );
  });
  await vscode.window.tabGroups.close(meant, true);
}

export async function openDocument(uri: vscode.Uri): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
}

export async function showBeside(
  panel: vscode.WebviewPanel,
  uri: vscode.Uri,
  preserveFocus = false,
): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const where = { viewColumn: columnBeside(panel), preserveFocus, preview: true };
  await vscode.window.showTextDocument(document, where);
}

/** Column to the right of the panel, which is not always the active one. */
export function columnBeside(panel: vscode.WebviewPanel): vscode.ViewColumn {
  const { One, Two, Three, Beside } = vscode.ViewColumn;
  const own = columnOf(panel);
  if (own === One) return Two;
  return own === Two ? Three : Beside;
}

function columnOf({ viewType, title, viewColumn }: vscode.WebviewPanel): vscode.ViewColumn {
  const group = vscode.window.tabGroups.all.find(({ tabs }) =>
    tabs.some(
      ({ input, label }) =>
        input instanceof vscode.TabInputWebview && input.viewType.endsWith(viewType) && label === title,
    ),
  );
  return group?.viewColumn ?? viewColumn ?? vscode.ViewColumn.One;
}

/** The pages are in the package, so that they fit its version and need no network. */
export async function openHelp(extension: vscode.Uri, page: HelpPage): Promise<void> {
  await vscode.commands.executeCommand('vscode.openWith', pageUri(extension, page), RENDERED);
}

/** @param named by a link of a webview; for anything but a page, the person is asked */
export async function openNamedHelp(extension: vscode.Uri, named: unknown): Promise<void> {
  const page = helpPages.find((one) => one === named) ?? (await askForPage(extension));
  if (page !== undefined) await openHelp(extension, page);
}

async function askForPage(extension: vscode.Uri): Promise<HelpPage | undefined> {
  const rows = helpPages.map(async (page) => ({ label: await titleOf(pageUri(extension, page)), page }));
  const chosen = await vscode.window.showQuickPick(Promise.all(rows), {
    title: t('Help'),
    placeHolder: t('Choose a page'),
  });
  return chosen?.page;
}

const pageUri = (extension: vscode.Uri, page: HelpPage): vscode.Uri =>
  vscode.Uri.joinPath(extension, 'docs', `${page}.md`);

async function titleOf({ fsPath }: vscode.Uri): Promise<string> {
  const [heading = ''] = (await readFile(fsPath, 'utf8')).split('\n', 1);
  return heading.replace(/^# /, '');
}

/** Opens a link that an agent wrote, after a question; only https. */
export async function openLink(address: string): Promise<void> {
  if (!/^https:\/\//i.test(address)) return;
  const open = t('Open');
  const chosen = await vscode.window.showInformationMessage(
    t('The agent wrote this link. Open it in the browser?'),
    { modal: true, detail: address },
    open,
  );
  if (chosen === open) await vscode.env.openExternal(vscode.Uri.parse(address, true));
}

/** @param file that a file manager selects @param sentence says where it is, for a window that can show neither */
export async function revealFolder(folder: string, file: string, sentence: string): Promise<void> {
  const uri = vscode.Uri.file(folder);
  if (vscode.workspace.getWorkspaceFolder(uri) !== undefined) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
  } else if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.joinPath(uri, file));
  } else {
    const copy = t('Copy Path');
    if ((await vscode.window.showInformationMessage(sentence, copy)) === copy)
      await vscode.env.clipboard.writeText(folder);
  }
}
