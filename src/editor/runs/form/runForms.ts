import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../../core/fault';
import { lazily } from '../../../core/lazily';
import { readText } from '../../../core/regularFile';
import { MAX_RECORD_BYTES, ROW_FILES, runFiles } from '../../../core/training/runFolder';
import { runsOf, type Run, type Runs } from '../../../core/training/runs';
import type { DuplicatedRun, FormState, Values } from '../../../../webview/newRun/protocol';
import type { Engine } from '../../engine';
import type { Engines } from '../../engines';
import { Panels } from '../../panels';
import type { Pack, Packs } from '../../packs';
import { dayOf, withDates, type ListFilter } from '../../dialogue/filter';
import type { RunStarter } from '../queue';
import type { EditorTrainer } from '../../trainer';
import { dataWords, runName } from '../../run/words';
import type { NewRunContext, NewRunPanel } from './panel';
import { idOf, contextKeys } from '../../contributions';

const { t } = vscode.l10n;

/** A real configuration has four levels. */
const MAX_LEVELS = 20;

function isShallow(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}

const keptSchema = lazily((): z.ZodType<FormState> =>
  z.object({
    dataFolder: z.string(),
    values: z.record(z.string(), z.string()).transform(withScore),
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

/** An older form has two scores of SWEET-RL's critic as methods. */
const withScore = (values: Values): Values =>
  values.method === 'value-head' || values.method === 'untrained'
    ? { ...values, method: 'sweet-rl', 'critic.score': values.method }
    : values;

interface RunFormParts {
  readonly engines: Engines;
  readonly trainer: EditorTrainer;
  readonly starter: RunStarter;
  readonly packs: Packs;
  /** Filter of the trajectory list, with which the form begins. */
  readonly filter: () => ListFilter;
  /** Remembers the last collected dialogues. */
  readonly memory: vscode.Memento;
  readonly open: (run: Run) => unknown;
}

/**
 * People's replies teach whatever became of the dialogue: those of successes alone would be of people who answer more.
 */
const SIMULATOR: Values = { role: 'collaborator', method: 'rft', 'policy.minimum_reward': '0' };

/** A blank form for each log, one that fits a simulator, and a form for each duplicated run. */
export class RunForms implements NewRunContext, vscode.Disposable {
  readonly trainer: EditorTrainer;
  private readonly panels: Panels<FormState, NewRunPanel>;

  constructor(
    readonly extension: vscode.Uri,
    private readonly parts: RunFormParts,
  ) {
    this.trainer = parts.trainer;
    this.panels = new Panels({
      name: 'newRun',
      isForm: true,
      errors: parts.engines.first,
      shows: (panel, { dataFolder, copied, values }) =>
        copied === undefined &&
        !panel.isCopy &&
        panel.dataFolder === dataFolder &&
        panel.fitsSimulator === (values.role === 'collaborator'),
      restore: (kept) => {
        const state = keptSchema().safeParse(kept).data;
        // A page wrote this, so only logs of this window are read.
        return parts.engines.withDataFolder(state?.dataFolder) && state;
      },
      load: async () => {
        const { NewRunPanel } = await import('./panel');
        return (panel, state) => new NewRunPanel(panel, state, this);
      },
    });
  }

  /** Takes the dialogues of a narrowed list, or else the last collected ones. */
  async open(): Promise<void> {
    const { engine } = this.parts.engines.shown;
    const listed = narrowed(withDates(this.parts.filter()));
    const collected = this.parts.memory.get<Values>(collectedIn(folderOf(engine)), {});
    await this.show(engine, Object.keys(listed).length > 0 ? listed : collected);
  }

  /** Takes people's replies in the dialogues of the list. */
  async fitSimulator(): Promise<void> {
    const { engine } = this.parts.engines.shown;
    await this.show(engine, { ...narrowed(withDates(this.parts.filter())), ...SIMULATOR });
  }

  /** The next blank form takes these dialogues, too. */
  async openOn(engine: Engine, collected: Values): Promise<void> {
    const dataFolder = folderOf(engine);
    await this.parts.memory.update(collectedIn(dataFolder), collected);
    const there = this.panels.find({ dataFolder, values: {} });
    there?.choose(collected);
    await this.show(engine, collected);
  }

  private async show(engine: Engine, chosen: Values): Promise<void> {
    const { trainablePlaces } = await import('./configuration');
    const [place] = await trainablePlaces(engine.localPlaces);
    const base: Values = place === undefined ? {} : { base: place.folder };
    await this.panels.open({ dataFolder: folderOf(engine), values: { ...base, ...chosen } });
  }

  async duplicate(run: Run): Promise<void> {
    const { dataFolder } = runsOf(run);
    const copied = await copyOf(run);
    const { valuesOf } = await import('./configuration');
    await this.panels.open({ dataFolder, values: valuesOf(copied.configuration), copied });
  }

  engineOf(dataFolder: string): Engine {
    const { engines } = this.parts;
    return engines.withDataFolder(dataFolder) ?? engines.shown.engine;
  }

  start(
    runs: Runs,
    configuration: unknown,
    started: { readonly from: string; readonly signal: AbortSignal },
  ): Promise<Run | undefined> {
    const page = idOf('newRun');
    return this.parts.starter.start(configuration, { ...started, page, folder: runs.dataFolder, runs });
  }

  started(panel: NewRunPanel, run: Run): void {
    this.parts.open(run);
    panel.dispose();
  }

  async openFile(engine: Engine, configuration: unknown): Promise<void> {
    const folder = engine.configuration.folder?.uri ?? vscode.Uri.file(folderOf(engine));
    const document = await vscode.workspace.openTextDocument(await newFile(folder));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), `${JSON.stringify(configuration, undefined, 2)}\n`);
    await vscode.workspace.applyEdit(edit);
    await vscode.window.showTextDocument(document);
    await offerStart(document);
  }

  packs(): Promise<readonly Pack[]> {
    return this.parts.packs.all();
  }

  async collect(engine: Engine): Promise<void> {
    const { collectHere, playsHere } = await import('../../collecting/collect');
    const { extentOf, SUGGESTED_TASKS } = await import('../../collecting/askExtent');
    const { QUICK } = await import('../../../core/evaluation/loop/settings');
    const { packs } = this.parts;
    const all = (await packs.all()).flatMap((pack) => pack.tasks);
    const { endingWords, showEnding } = await import('../../collecting/collect');
    const ended = await collectHere(engine, packs, all, (played) =>
      extentOf(all, played, playsHere(engine) ? QUICK.trainTasks : SUGGESTED_TASKS),
    );
    if (ended === undefined) return;
    void showEnding(ended, endingWords(ended, engine.calledBy(engine.agentName)));
  }

  dispose(): void {
    this.panels.dispose();
  }
}

const collectedIn = (dataFolder: string): string => `newRun.collected ${dataFolder}`;

function folderOf({ configuration }: Engine): string {
  if (configuration.dataFolder !== undefined) return configuration.dataFolder;
  throw new Fault('editor/no-folder', t('Open a folder first: runs are kept in it.'));
}

function narrowed({ pack, agent, collaborator, stars, review, since, until }: ListFilter): Values {
  return Object.fromEntries(
    Object.entries({
      ...{ pack, agent, collaborator, stars: stars?.toString(), review },
      since: since === undefined ? undefined : dayOf(Date.parse(since)),
      until: until === undefined ? undefined : dayOf(Date.parse(until) - 1),
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const configurationSchema = lazily(() => z.looseObject({ data: z.looseObject({}).optional() }));

/** With absolute paths, so that it can be started from another folder. */
async function copyOf(run: Run): Promise<DuplicatedRun> {
  const text = await readText(path.join(run.folder, runFiles.configuration), MAX_RECORD_BYTES);
  const configuration = configurationSchema().parse(JSON.parse(text));
  const data = Object.fromEntries(
    Object.entries(configuration.data ?? {}).map(([field, value]) => [field, fromFolder(value, field, run)]),
  );
  const of = runName(run);
  return { of, configuration: { ...configuration, data }, data: dataWords(run) ?? '' };
}

function fromFolder(value: unknown, field: string, { folder }: Run): unknown {
  const isFiles = [...ROW_FILES, 'tasks'].includes(field);
  if (!isFiles || !Array.isArray(value)) return value;
  return value.map((file: unknown) => (typeof file === 'string' ? path.resolve(folder, file) : file));
}

/** The name makes the editor recognize a configuration. */
async function newFile(folder: vscode.Uri): Promise<vscode.Uri> {
  const open = vscode.workspace.textDocuments.map(({ uri }) => uri.path);
  for (let number = 1; ; number += 1) {
    const file = vscode.Uri.joinPath(folder, number === 1 ? 'run.json' : `${number}.run.json`);
    const isThere = await vscode.workspace.fs.stat(file).then(
      () => true,
      () => false, // it is free
    );
    if (!isThere && !open.includes(file.path)) return file.with({ scheme: 'untitled' });
  }
}

/** Documents with a button that starts them. */
const startable = new Set<string>();

async function offerStart(document: vscode.TextDocument): Promise<void> {
  startable.add(document.uri.toString());
  await vscode.commands.executeCommand('setContext', contextKeys.runFiles, [...startable]);
  const start = t('Start Run');
  const chosen = await vscode.window.showInformationMessage(
    t('Change the settings, then start the run, or save the configuration for tandem train.'),
    start,
  );
  if (chosen !== start) return;
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand(idOf('startRunFile'));
}
