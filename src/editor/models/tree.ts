import * as vscode from 'vscode';
import type { Configuration } from '../configuration';
import { commands, contextValues, views } from '../contributions';
import type { Engine } from '../engine';
import type { LocalState } from './loaded';
import type { LocalPlace } from './places';
import { modelDetails, modelWords, spokenModel, type ModelRow } from './words';

export type ModelNode =
  { readonly kind: 'model'; readonly place: LocalPlace; readonly row: ModelRow } | { readonly kind: 'add' };

/** The models that play on this machine: which there are, what each is doing, and who plays what. */
export class ModelTree implements vscode.TreeDataProvider<ModelNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<ModelNode>;
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly configuration: Configuration,
    private readonly engine: Engine,
  ) {
    this.view = vscode.window.createTreeView(views.models, { treeDataProvider: this });
    this.disposables = [
      this.changed,
      this.view,
      configuration.onDidChange(() => this.show()),
      engine.onDidChangeModels(() => this.show()),
      // Training may have left a model meanwhile.
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) this.show();
      }),
    ];
    this.showPlayers();
  }

  /** The row that the keyboard is on. */
  get selected(): ModelNode | undefined {
    return this.view.selection[0];
  }

  async getChildren(node?: ModelNode): Promise<ModelNode[]> {
    if (node !== undefined) return [];
    const models = await Promise.all(
      this.engine.localPlaces.map(async (place): Promise<ModelNode> => {
        return { kind: 'model', place, row: await this.row(place) };
      }),
    );
    return models.length === 1 ? [...models, { kind: 'add' }] : models;
  }

  getTreeItem(node: ModelNode): vscode.TreeItem {
    return node.kind === 'add' ? addItem() : modelItem(node);
  }

  /** Looks at the folders anew. */
  async refresh(): Promise<void> {
    await this.engine.locals.lookAgain();
    this.show();
  }

  private show(): void {
    this.showPlayers();
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async row({ spec, folder }: LocalPlace): Promise<ModelRow> {
    const { agent, simulator } = this.configuration;
    const roles = [
      ...(spec === agent ? (['agent'] as const) : []),
      ...(spec === simulator ? (['simulator'] as const) : []),
    ];
    return { roles, ...(await this.engine.locals.look(folder)) };
  }

  /** Behind the view's title, also when a server or a script plays. */
  private showPlayers(): void {
    const { agent, simulator } = this.configuration;
    const places = this.engine.localPlaces;
    const named = (spec: string): string =>
      places.find((place) => place.spec === spec)?.name ?? (spec === '' ? 'none' : spec);
    this.view.description = `agent: ${named(agent)} · simulator: ${named(simulator)}`;
  }
}

function modelItem(node: Extract<ModelNode, { kind: 'model' }>): vscode.TreeItem {
  const { place, row } = node;
  const item = new vscode.TreeItem(place.name);
  item.id = place.folder;
  // Its own name is what its row begins with.
  item.description = modelWords(row).replace(`failed: ${place.folder} `, 'failed: ');
  item.iconPath = stateIcon(row.state);
  item.contextValue = contextValueOf(place);
  item.tooltip = tooltip(place, row);
  item.accessibilityInformation = { label: spokenModel(place.name, row) };
  return item;
}

/** What can be done with a model: only what a person put into the list can be taken out. */
function contextValueOf({ from }: LocalPlace): string {
  if (from === 'tandem') return contextValues.starterModel;
  return from === 'list' ? contextValues.modelFolder : contextValues.trainedModel;
}

/** The shape tells the state; a colour only repeats it. */
function stateIcon(state: LocalState): vscode.ThemeIcon {
  switch (state.kind) {
    case 'not-loaded':
      return new vscode.ThemeIcon('circle-large');
    case 'loading':
      return new vscode.ThemeIcon('loading~spin');
    case 'ready':
      return new vscode.ThemeIcon('pass-filled', new vscode.ThemeColor('testing.iconPassed'));
    case 'failed':
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  }
}

function tooltip(place: LocalPlace, row: ModelRow): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendMarkdown('**').appendText(place.name).appendMarkdown('**\n\n');
  for (const line of modelDetails(place, row)) text.appendText(line).appendMarkdown('\n\n');
  return text;
}

function addItem(): vscode.TreeItem {
  const item = new vscode.TreeItem('Add a model folder…');
  item.description = 'one that you trained, or any in ONNX';
  item.iconPath = new vscode.ThemeIcon('add');
  item.command = { command: commands.addModelFolder, title: 'Add a model folder' };
  return item;
}
