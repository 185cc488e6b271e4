import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import type { Run } from '../../core/training/runs';
import type { Preparing } from '../../core/training/start';
import type { Engine } from '../engine';
import type { LocalPlace } from '../models/places';
import { cancellable } from '../progress';
import type { RunQueue } from './queue';
import type { EditorTrainer } from '../trainer';
import type { RunWatch } from './watch';

const { t } = vscode.l10n;

type Method = 'sweet-rl' | 'rft' | 'multiturn-dpo';

interface MethodItem extends vscode.QuickPickItem {
  readonly method: Method;
}

interface BaseItem extends vscode.QuickPickItem {
  readonly base: LocalPlace | 'folder' | 'name';
}

/** Starts runs: from what a person chooses in two steps, or from a file. */
export class RunStarter {
  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly queue: RunQueue,
  ) {}

  /**
   * Method, then base model; all else as it has been found to work for a model of that size.
   * @returns undefined when the person left it
   */
  async ask(engine: Engine): Promise<Run | undefined> {
    const trajectories = (await engine.log()).count({}).total;
    const step = (number: number): string => t('New Run ({0}/2)', number);
    const chosen = await vscode.window.showQuickPick(methods(), {
      title: step(1),
      placeHolder: t('How to learn from the {0} trajectories of this log', trajectories),
    });
    if (chosen === undefined) return undefined;
    const base = await vscode.window.showQuickPick(await bases(engine), {
      title: step(2),
      placeHolder: t('Which model learns'),
    });
    const model = base && (await baseOf(base));
    if (model === undefined) return undefined;
    return this.start(await configurationOf(chosen.method, model, engine, this.watch.all.length + 1), {
      from: t('New Run'),
      folder: engine.dataFolder,
    });
  }

  /** @throws {Fault} `training/bad-configuration` */
  async startFrom(document: vscode.TextDocument, engine: Engine): Promise<Run | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(document.getText());
    } catch (error) {
      throw new Fault(
        'training/bad-configuration',
        t('{0} is not JSON: {1}. Mend it, then start it again.', nameOf(document), messageOf(error)),
      );
    }
    const folder = document.isUntitled
      ? (engine.configuration.folder?.uri.fsPath ?? engine.dataFolder)
      : path.dirname(document.uri.fsPath);
    return this.start(value, { from: nameOf(document), folder });
  }

  /** @param folder in which relative paths of the configuration begin */
  private async start(
    value: unknown,
    { from, folder }: { readonly from: string; readonly folder: string },
  ): Promise<Run | undefined> {
    const { runs } = this.watch;
    if (runs === undefined)
      throw new Fault('editor/no-folder', t('Open a folder first: runs are kept in it.'));
    const { parseConfiguration } = await import('../../core/training/configuration');
    const { startRun } = await import('../../core/training/start');
    const configuration = await parseConfiguration(value, { from, folder });
    const run = await cancellable(t('Starting a run'), async (signal, report) => {
      report(t('looking for the trainer'));
      const trainer = await this.trainer.open(signal, report);
      const made = await startRun(runs, {
        ...{ configuration, trainer, signal, queued: true },
        prompts: this.trainer.prompts,
        onProgress: (what) => report(preparingWords(what)),
      });
      await this.queue.begin(trainer);
      return made;
    });
    return run && runs.read(run.id);
  }
}

function preparingWords(what: Preparing): string {
  switch (what) {
    case 'data':
      return t('taking the data from the log');
    case 'checks':
      return t('checking configuration and machine');
    case 'plan':
      return t('planning');
    case 'launch':
      return t('launching the trainer');
  }
}

const nameOf = ({ fileName }: vscode.TextDocument): string => path.basename(fileName);

function methods(): MethodItem[] {
  return [
    {
      method: 'sweet-rl',
      label: 'SWEET-RL',
      detail: t('A critic learns which turns helped, then the agent learns from turns that it ranks'),
    },
    {
      method: 'rft',
      label: t('Rejection fine-tuning'),
      detail: t('The agent imitates the dialogues that succeeded'),
    },
    {
      method: 'multiturn-dpo',
      label: t('Multi-turn DPO'),
      detail: t('The agent learns to prefer whole dialogues that succeeded to those that did not'),
    },
  ];
}

/** What can be trained, the starter model first: folders with weights that PyTorch reads. */
async function bases(engine: Engine): Promise<BaseItem[]> {
  const places = await Promise.all(
    engine.localPlaces.map(async (place) => ((await hasWeights(place.folder)) ? [place] : [])),
  );
  return [
    ...places.flat().map((place): BaseItem => ({
      base: place,
      label: place.name,
      ...(place.from === 'tandem' && { description: t('ships with Tandem') }),
      detail: place.from === 'tandem' ? t('Learns in minutes, without a GPU') : place.folder,
    })),
    { base: 'folder', label: t('Choose a folder…'), detail: t('A model as transformers reads it') },
    { base: 'name', label: t('A name on the hub…'), detail: t('Downloaded by the trainer when it starts') },
  ];
}

async function hasWeights(folder: string): Promise<boolean> {
  try {
    const names = await vscode.workspace.fs.readDirectory(vscode.Uri.file(folder));
    return names.some(([name]) => name.endsWith('.safetensors'));
  } catch {
    return false; // a folder of the settings that is gone; the Models view says so
  }
}

async function baseOf({ base }: BaseItem): Promise<string | undefined> {
  if (typeof base === 'object') return base.folder;
  if (base === 'name') {
    return vscode.window.showInputBox({
      title: t('Base model'),
      placeHolder: 'Qwen/Qwen2.5-1.5B-Instruct',
      prompt: t('Its name on the hub'),
      ignoreFocusOut: true,
      validateInput: (text) => (/^[\w.-]+\/[\w.-]+$/.test(text) ? undefined : t('Write owner/name.')),
    });
  }
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: t('Base model'),
      openLabel: t('Train'),
      canSelectFiles: false,
      canSelectFolders: true,
    })) ?? [];
  return chosen?.fsPath;
}

/** Small models are trained whole with the settings found for them, large ones with the trainer's own. */
async function configurationOf(
  method: Method,
  base: string,
  { dataFolder }: Engine,
  number: number,
): Promise<unknown> {
  const { QUICK } = await import('../../core/loop/settings');
  const { model, data, ...stages } = (await isSmall(base)) ? QUICK.training : { model: {}, data: {} };
  return {
    name: `${method} #${number}`,
    method,
    model: { base, ...model },
    data: { log: dataFolder, ...data },
    ...stages,
    // With a graph it can play here.
    export: { onnx: ['int8'] },
  };
}

async function isSmall(base: string): Promise<boolean> {
  const { LARGEST_TRAINED_WHOLE } = await import('../../core/loop/settings');
  if (!path.isAbsolute(base)) return false;
  const folder = vscode.Uri.file(base);
  const names = await vscode.workspace.fs.readDirectory(folder);
  const weights = names.filter(([name]) => name.endsWith('.safetensors'));
  const sizes = await Promise.all(
    weights.map(async ([name]) => (await vscode.workspace.fs.stat(vscode.Uri.joinPath(folder, name))).size),
  );
  // Of two bytes at least each.
  return sizes.reduce((sum, size) => sum + size, 0) <= 2 * LARGEST_TRAINED_WHOLE;
}
