import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { QUICK } from '../../../core/evaluation/loop/settings';
import { writeStarterPack } from '../../../core/task/starter/pack';
import { DIFFICULTIES, type Difficulty, type Split } from '../../../core/task/starter/world';
import type { FolderSettings } from '../../configuration';
import { idOf } from '../../contributions';
import { STARTER } from '../../models/localModels';
import { cancellable } from '../../progress';
import { askWhole, pickOne, runSteps, taking } from '../../inputSteps';
import type { Packs } from '../packs';
import { chooseFolder } from './addPack';

const { t } = vscode.l10n;

/** Maximum number of tasks; no list and no run of this machine makes use of more. */
const MAX_TASKS = 10_000;

/** Splits of the starter world on offer. The test split is reserved for the scoreboard. */
type OfferedSplit = Exclude<Split, 'test'>;

const FILES: Readonly<Record<OfferedSplit, string>> = {
  train: 'starter-world-train',
  development: 'starter-world-held-out',
};

/**
 * Writes starter-world tasks into a new pack, as `tandem world` does.
 * @throws {Fault} `editor/no-folder`, `editor/pack-not-listed`; the system's error when the file cannot be written
 */
export async function generateTasks(
  configuration: Pick<FolderSettings, 'agent' | 'set'>,
  packs: Pick<Packs, 'all' | 'list'>,
): Promise<void> {
  const folder = await chooseFolder();
  if (folder === undefined) return;
  const asked = await askTasks();
  if (asked === undefined) return;
  const { split, tasks } = asked;
  const { file, seed } = freeFile(folder.uri.fsPath, split);
  const name = path.basename(file);
  const written = await cancellable(t('Generating {0}', name), async (signal, report) => {
    await writeStarterPack(file, { world: 'functions', ...asked, seed }, signal, (drawn) =>
      report(t('{0} of {1} tasks', drawn, tasks), drawn / tasks),
    );
    return true;
  });
  if (written === undefined) return;
  if (configuration.agent === '') await configuration.set('agent', STARTER);
  await packs.list(file);
  // This is not awaited, because the message stays until the person has read it.
  if (split === 'train') void offerCollecting(packs, file, tasks);
  else void vscode.window.showInformationMessage(measureWords(tasks, name));
}

const measureWords = (tasks: number, name: string): string =>
  tasks === 1
    ? t('Generated 1 task to measure on: {0}. Evaluate offers it.', name)
    : t('Generated {0} tasks to measure on: {1}. Evaluate offers them.', tasks, name);

async function offerCollecting(packs: Pick<Packs, 'all'>, file: string, tasks: number): Promise<void> {
  const name = path.basename(file);
  const collect = t('Collect Dialogues…');
  const pressed = await vscode.window.showInformationMessage(
    tasks === 1
      ? t('Generated 1 task to learn from: {0}.', name)
      : t('Generated {0} tasks to learn from: {1}.', tasks, name),
    collect,
  );
  if (pressed !== collect) return;
  const pack = (await packs.all()).find((one) => one.file === file);
  await vscode.commands.executeCommand(idOf('collect'), pack && { kind: 'pack', pack });
}

/** Returns the first seed without a file: the tasks differ each time, and nothing is overwritten. */
function freeFile(folder: string, split: OfferedSplit): { readonly file: string; readonly seed: number } {
  for (let seed = 1; ; seed += 1) {
    const file = path.join(folder, `${FILES[split]}-${seed}.jsonl`);
    if (!existsSync(file)) return { file, seed };
  }
}

interface Asked {
  readonly split: OfferedSplit;
  readonly tasks: number;
  readonly difficulty: Difficulty;
}

async function askTasks(): Promise<Asked | undefined> {
  const title = t('Generate tasks of the starter world');
  let split: OfferedSplit = 'train';
  let tasks = 0;
  let difficulty: Difficulty = QUICK.difficulty;
  const isAnswered = await runSteps([
    taking(
      (place) =>
        pickOne({
          ...{ title, items: purposes(), ...place },
          placeholder: t('Prices, fees and limits of small businesses; what are the tasks for?'),
        }),
      (item) => (split = item.split),
    ),
    taking(
      (place) =>
        askWhole({
          ...{ title, most: MAX_TASKS, ...place },
          prompt: t('How many tasks?'),
          value: split === 'train' ? QUICK.trainTasks : QUICK.heldOutTasks,
        }),
      (typed) => (tasks = typed),
    ),
    taking(
      (place) =>
        pickOne({
          ...{ title, items: difficulties(), ...place },
          placeholder: t('How difficult? The agent has to ask for what the request does not say.'),
          active: (item) => item.difficulty === difficulty,
        }),
      (item) => (difficulty = item.difficulty),
    ),
  ]);
  return isAnswered ? { split, tasks, difficulty } : undefined;
}

const purposes = (): (vscode.QuickPickItem & { readonly split: OfferedSplit })[] => [
  {
    split: 'train',
    label: t('Tasks to learn from'),
    detail: t('To collect dialogues of, and to train on these.'),
  },
  {
    split: 'development',
    label: t('Tasks to measure on'),
    detail: t('Of other kinds than all tasks to learn from: never train on these.'),
  },
];

function difficulties(): (vscode.QuickPickItem & { readonly difficulty: Difficulty })[] {
  const labels: Readonly<Record<Difficulty, string>> = {
    gentle: t('Gentle'),
    standard: t('Standard'),
    hard: t('Hard'),
  };
  return (Object.keys(labels) as Difficulty[]).map((difficulty) => {
    const { fewest, most, cued } = DIFFICULTIES[difficulty];
    const detail = t(
      '{0} to {1} decisions that only the collaborator knows; the request hints at {2} % of them.',
      fewest,
      most,
      Math.round(100 * cued),
    );
    return { difficulty, label: labels[difficulty], detail };
  });
}
