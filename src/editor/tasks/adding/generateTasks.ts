import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { QUICK } from '../../../core/evaluation/loop/settings';
import { SHIPPED_FOR } from '../../../core/model/shippedModels';
import { writeStarterPack } from '../../../core/task/starter/worlds';
import { PAGE_DIFFICULTIES } from '../../../core/task/starter/pages/world';
import { ATTRIBUTES } from '../../../core/task/starter/questions/objects';
import { TOLD } from '../../../core/task/starter/questions/world';
import { WORLDS, type World } from '../../../core/task/starter/splits';
import { DIFFICULTIES, type Difficulty, type Split } from '../../../core/task/starter/world';
import type { FolderSettings } from '../../configuration';
import { idOf } from '../../contributions';
import { cancellable } from '../../progress';
import { inform, askWhole, pickOne, runSteps, taking, type StepPosition } from '../../inputSteps';
import { worldChoices } from '../../words';
import type { Packs } from '../../packs';
import { chooseFolder } from './addPack';

const { t } = vscode.l10n;

const MAX_TASKS = 10_000;

/** As many as the sample pack of functions has. */
const TASKS_TO_PLAY = 24;

/** Splits of the starter world on offer. The test split is reserved for the scoreboard. */
type OfferedSplit = Exclude<Split, 'test'>;

const FILES: Readonly<Record<World, Readonly<Record<OfferedSplit, string>>>> = {
  functions: { train: 'starter-world-train', development: 'starter-world-held-out' },
  pages: { train: 'starter-pages-train', development: 'starter-pages-held-out' },
  'twenty-questions': { train: 'starter-questions-train', development: 'starter-questions-held-out' },
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
  const file = await generatePack(folder.uri.fsPath, asked, packs);
  if (file === undefined) return;
  const { world, split, tasks } = asked;
  if (configuration.agent === '') await configuration.set('agent', SHIPPED_FOR[world]);
  // This is not awaited, because the message stays until the person has read it.
  if (split === 'train') void offerCollecting(packs, file, tasks);
  else
    inform(t('Generated tasks to measure on in {0}: {1}. Evaluate offers them.', path.basename(file), tasks));
}

/**
 * Tasks of a world that no agent has learned from, in a new pack.
 * @returns its file; undefined when the person chose no folder, or cancelled
 * @throws {Fault} as `generateTasks`
 */
export async function generateHeldOut(world: World, packs: Pick<Packs, 'list'>): Promise<string | undefined> {
  const folder = await chooseFolder();
  if (folder === undefined) return undefined;
  const { difficulty } = QUICK;
  const asked: Asked = { world, split: 'development', tasks: TASKS_TO_PLAY, difficulty };
  return generatePack(folder.uri.fsPath, asked, packs);
}

async function generatePack(
  folder: string,
  asked: Asked,
  packs: Pick<Packs, 'list'>,
): Promise<string | undefined> {
  const { tasks } = asked;
  const { file, seed } = freeFile(folder, asked);
  const written = await cancellable(t('Generating {0}', path.basename(file)), async (signal, report) => {
    await writeStarterPack(file, { ...asked, seed }, signal, (drawn) =>
      report(t('{0} of {1} tasks', drawn, tasks), drawn / tasks),
    );
    return true;
  });
  if (written === undefined) return undefined;
  await packs.list(file);
  return file;
}

async function offerCollecting(packs: Pick<Packs, 'all'>, file: string, tasks: number): Promise<void> {
  const collect = t('Collect Dialogues…');
  const pressed = await vscode.window.showInformationMessage(
    t('Generated tasks to learn from in {0}: {1}.', path.basename(file), tasks),
    collect,
  );
  if (pressed !== collect) return;
  const pack = (await packs.all()).find((one) => one.file === file);
  await vscode.commands.executeCommand(idOf('collect'), pack && { kind: 'pack', pack });
}

/** Returns the first seed without a file: the tasks differ each time, and nothing is overwritten. */
function freeFile(
  folder: string,
  { world, split }: Pick<Asked, 'world' | 'split'>,
): { readonly file: string; readonly seed: number } {
  for (let seed = 1; ; seed += 1) {
    const file = path.join(folder, `${FILES[world][split]}-${seed}.jsonl`);
    if (!existsSync(file)) return { file, seed };
  }
}

interface Asked {
  readonly world: World;
  readonly split: OfferedSplit;
  readonly tasks: number;
  readonly difficulty: Difficulty;
}

async function askTasks(): Promise<Asked | undefined> {
  const title = t('Generate tasks of the starter world');
  let world: World = 'functions';
  let split: OfferedSplit = 'train';
  let tasks = 0;
  let difficulty: Difficulty = QUICK.difficulty;
  const pick = <Item extends vscode.QuickPickItem>(
    placeholder: string,
    items: () => readonly Item[],
    take: (item: Item) => void,
    active?: (item: Item) => boolean,
  ) =>
    taking(
      (place: StepPosition) =>
        pickOne({ ...place, title, placeholder, items: items(), ...(active && { active }) }),
      take,
    );
  const isAnswered = await runSteps([
    pick(
      t('Which tasks?'),
      () => worldChoices(WORLDS, t),
      (item) => (world = item.value),
      (item) => item.value === world,
    ),
    pick(t('What are the tasks for?'), purposes, (item) => (split = item.split)),
    taking(
      (place) =>
        askWhole({
          ...{ title, most: MAX_TASKS, ...place },
          prompt: t('How many tasks?'),
          value: split === 'train' ? QUICK.trainTasks : QUICK.heldOutTasks,
        }),
      (typed) => (tasks = typed),
    ),
    pick(
      t('How difficult? The agent has to ask for what the request does not say.'),
      () => difficulties(world),
      (item) => (difficulty = item.difficulty),
      (item) => item.difficulty === difficulty,
    ),
  ]);
  return isAnswered ? { world, split, tasks, difficulty } : undefined;
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

function difficulties(world: World): (vscode.QuickPickItem & { readonly difficulty: Difficulty })[] {
  const labels: Readonly<Record<Difficulty, string>> = {
    gentle: t('Gentle'),
    standard: t('Standard'),
    hard: t('Hard'),
  };
  return (Object.keys(labels) as Difficulty[]).map((difficulty) => {
    return { difficulty, label: labels[difficulty], detail: difficultyWords(world, difficulty) };
  });
}

function difficultyWords(world: World, difficulty: Difficulty): string {
  if (world === 'twenty-questions')
    return t('Of {0} attributes the request tells {1}.', ATTRIBUTES.length, TOLD[difficulty]);
  const { fewest, most, cued } = (world === 'pages' ? PAGE_DIFFICULTIES : DIFFICULTIES)[difficulty];
  return t(
    '{0} to {1} decisions that only the collaborator knows; the request hints at {2} % of them.',
    fewest,
    most,
    Math.round(100 * cued),
  );
}
