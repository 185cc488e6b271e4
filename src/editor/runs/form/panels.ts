import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../../core/fault';
import { lazily } from '../../../core/lazily';
import { runFiles } from '../../../core/training/runFolder';
import type { Run, Runs } from '../../../core/training/runs';
import type { Copied, FormState, Values } from '../../../../webview/newRun/protocol';
import { newRunViewType } from '../../contributions';
import type { Engine } from '../../engine';
import type { Engines } from '../../engines';
import type { Packs } from '../../tasks/packs';
import { dayOf, type ListFilter } from '../../trajectories/filter';
import { offerStart } from '../offered';
import { runsOf } from '../resting';
import type { RunStarter } from '../starting';
import type { EditorTrainer } from '../../trainer';
import { dataWords, runName } from '../words';
import { trainablePlaces } from './bases';
import type { NewRunOwner, NewRunPanel } from './panel';

const { t } = vscode.l10n;

/** A configuration has four. */
const MOST_LEVELS = 20;

/** What is deeper cannot be copied or written. */
function isShallow(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

/** What the editor keeps of a form over a reload. */
const stateSchema = lazily((): z.ZodType<FormState> =>
  z.object({
    dataFolder: z.string(),
    values: z.record(z.string(), z.string()),
    copied: z
      .object({
        of: z.string(),
        configuration: z.record(z.string(), z.unknown()).refine(isShallow),
        data: z.string(),
      })
      .exactOptional(),
    isUnfolded: z.boolean().exactOptional(),
  }),
);

export interface NewRunParts {
  readonly engines: Engines;
  readonly trainer: EditorTrainer;
  readonly starter: RunStarter;
  readonly packs: Packs;
  /** How the list of trajectories is narrowed: the form begins with it. */
  readonly filter: () => ListFilter;
  /** Keeps which dialogues were collected last. */
  readonly memory: vscode.Memento;
  /** Shows a run. */
  readonly open: (run: Run) => void;
}

/** The forms that are open: a blank one for each log, and one for each run that is duplicated. */
export class NewRunPanels implements vscode.WebviewPanelSerializer, NewRunOwner, vscode.Disposable {
  private readonly panels = new Set<NewRunPanel>();
  private readonly registration: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly parts: NewRunParts,
  ) {
    this.registration = vscode.window.registerWebviewPanelSerializer(newRunViewType, this);
  }

  /** On the dialogues to which the list is narrowed, or else on those that were collected last. */
  async open(): Promise<void> {
    const { engine } = this.parts.engines.shown;
    const listed = narrowed(this.parts.filter());
    const collected = this.parts.memory.get<Values>(collectedIn(folderOf(engine)), {});
    await this.show(engine, Object.keys(listed).length > 0 ? listed : collected);
  }

  /** On dialogues that were just collected, which the next blank form takes too. */
  async openOn(engine: Engine, collected: Values): Promise<void> {
    const dataFolder = folderOf(engine);
    await this.parts.memory.update(collectedIn(dataFolder), collected);
    const there = this.blankOf(dataFolder);
    if (there === undefined) return this.show(engine, collected);
    there.choose(collected);
    there.reveal();
  }

  private async show(engine: Engine, chosen: Values): Promise<void> {
    const dataFolder = folderOf(engine);
    const there = this.blankOf(dataFolder);
    if (there !== undefined) {
      there.reveal();
      return;
    }
    const [place] = await trainablePlaces(engine.localPlaces);
    const base: Values = place === undefined ? {} : { base: place.folder };
    await this.create({ dataFolder, values: { ...base, ...chosen } }, engine);
  }

  private blankOf(dataFolder: string): NewRunPanel | undefined {
    return [...this.panels].find((panel) => !panel.isCopy && panel.dataFolder === dataFolder);
  }

  /** Filled in as the run was. */
  async duplicate(run: Run): Promise<void> {
    const { dataFolder } = runsOf(run);
    const engine = this.engineOf(dataFolder) ?? this.parts.engines.shown.engine;
    const copied = await copyOf(run);
    const { valuesOf } = await import('./configuration');
    await this.create({ dataFolder, values: valuesOf(copied.configuration), copied }, engine);
  }

  /** Called by VS Code for each form that was open before the reload. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, kept: unknown): Promise<void> {
    const state = stateSchema().safeParse(kept).data;
    // The state is what a page has written: only logs of this window are read.
    const engine = state && this.engineOf(state.dataFolder);
    if (state === undefined || engine === undefined) panel.dispose();
    else await this.adopt(panel, state, engine);
  }

  start(
    runs: Runs,
    configuration: unknown,
    started: { readonly from: string; readonly signal: AbortSignal },
  ): Promise<Run | undefined> {
    return this.parts.starter.start(configuration, { ...started, folder: runs.dataFolder, runs });
  }

  started(panel: NewRunPanel, run: Run): void {
    this.parts.open(run);
    panel.dispose();
  }

  async openFile(configuration: unknown): Promise<void> {
    const content = `${JSON.stringify(configuration, undefined, 2)}\n`;
    const document = await vscode.workspace.openTextDocument({ language: 'json', content });
    await vscode.window.showTextDocument(document);
    await offerStart(document);
  }

  async collect(engine: Engine): Promise<void> {
    const { collectHere, playsHere } = await import('../../collecting/collect');
    const { extentOf, FEW_TASKS } = await import('../../collecting/extent');
    const { QUICK } = await import('../../../core/loop/settings');
    const { packs } = this.parts;
    const all = (await packs.all()).flatMap((pack) => pack.tasks);
    await collectHere(engine, packs, all, (played) =>
      extentOf(all, played, playsHere(engine) ? QUICK.trainTasks : FEW_TASKS),
    );
  }

  onDidDispose(panel: NewRunPanel): void {
    this.panels.delete(panel);
  }

  dispose(): void {
    for (const panel of this.panels) panel.dispose();
    this.registration.dispose();
  }

  private async create(state: FormState, engine: Engine): Promise<void> {
    const panel = vscode.window.createWebviewPanel(newRunViewType, '', vscode.ViewColumn.Active);
    await this.adopt(panel, state, engine);
  }

  private async adopt(panel: vscode.WebviewPanel, state: FormState, engine: Engine): Promise<void> {
    const { NewRunPanel } = await import('./panel');
    this.panels.add(new NewRunPanel(panel, state, engine, this.parts.trainer, this, this.extension));
  }

  private engineOf(dataFolder: string): Engine | undefined {
    return this.parts.engines.logs.find(({ engine }) => engine.configuration.dataFolder === dataFolder)
      ?.engine;
  }
}

/** Where the last collection of a log is kept. */
const collectedIn = (dataFolder: string): string => `newRun.collected ${dataFolder}`;

function folderOf({ configuration }: Engine): string {
  if (configuration.dataFolder !== undefined) return configuration.dataFolder;
  throw new Fault('editor/no-folder', t('Open a folder first: runs are kept in it.'));
}

/** What of the list's filter a run can be narrowed by as well. */
function narrowed({ pack, agent, collaborator, stars, since, until }: ListFilter): Values {
  return Object.fromEntries(
    Object.entries({
      ...{ pack, agent, collaborator, stars: stars?.toString() },
      since: since === undefined ? undefined : dayOf(Date.parse(since)),
      until: until === undefined ? undefined : dayOf(Date.parse(until) - 1),
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const configurationSchema = lazily(() => z.looseObject({ data: z.looseObject({}).optional() }));

/** The configuration of a run, to be changed and started again from elsewhere: its files have absolute paths. */
async function copyOf(run: Run): Promise<Copied> {
  const file = vscode.Uri.file(path.join(run.folder, runFiles.configuration));
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  const configuration = configurationSchema().parse(JSON.parse(text));
  const data = Object.fromEntries(
    Object.entries(configuration.data ?? {}).map(([field, value]) => [field, fromFolder(value, field, run)]),
  );
  const of = runName(run, t);
  return { of, configuration: { ...configuration, data }, data: dataWords(run, t) ?? '' };
}

/** Its files of rows stand in its folder, which is not where the copy will be. */
function fromFolder(value: unknown, field: string, { folder }: Run): unknown {
  const isFiles = field === 'trajectories' || field === 'preferences';
  if (!isFiles || !Array.isArray(value)) return value;
  return value.map((file: unknown) => (typeof file === 'string' ? path.resolve(folder, file) : file));
}
