import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { CriticPlace, RunCritic } from '../../core/training/credit/critics';
import type { Engine } from '../engine';
import { baseName, methodWord } from '../runs/words';
import { ago } from '../trajectories/words';
import type { KeptCredit } from './kept';
import { openCriticAt } from './open';
import { verdictWords } from './words';

const { t } = vscode.l10n;

/** A critic that a person can choose: what it is called, and what is known of it. */
export interface OfferedCritic extends CriticPlace {
  readonly from: 'run' | 'loop' | 'scoreboard' | 'folder';
  readonly about: string;
  /** How far people agree with it, or why it cannot be read. */
  readonly figure: string;
}

type Unread = Omit<OfferedCritic, 'figure'>;

interface Sources {
  readonly dataFolders: readonly string[];
  /** Those that a person pointed at before. */
  readonly folders: readonly CriticPlace[];
  /** Of the log whose dialogues are looked at. */
  readonly engine: Engine;
  readonly kept: KeptCredit;
}

/** Of runs, of those of loops and scoreboards, and in folders that a person pointed at; each kind from the newest. */
export async function offeredCritics({
  dataFolders,
  folders,
  engine,
  kept,
}: Sources): Promise<OfferedCritic[]> {
  const { criticsIn } = await import('../../core/training/credit/critics');
  const made = (await Promise.all(dataFolders.map(criticsIn))).flat();
  const cells = await cellsOf(made);
  const named = made.map((critic) => ofRun(critic, cells));
  const others = folders
    .filter(({ folder }) => existsSync(folder) && made.every((critic) => critic.folder !== folder))
    .map((place): Unread => ({
      ...{ ...place, from: 'folder' },
      about: vscode.workspace.asRelativePath(place.folder, false),
    }));
  return Promise.all(
    [...named, ...others].map(async (critic) => ({
      ...critic,
      figure: await figureOf(critic, engine, kept),
    })),
  );
}

/** What the runs of the scoreboards trained, by their ids, which no two runs share. */
async function cellsOf(made: readonly RunCritic[]): Promise<ReadonlyMap<string, string>> {
  const { trainedCells } = await import('../../core/scoreboard/attemptFile');
  const boards = new Set(
    made.flatMap(({ experiment }) => (experiment?.kind === 'scoreboards' ? experiment.folder : [])),
  );
  const cells = await Promise.all([...boards].map(trainedCells));
  return new Map(cells.flatMap((of) => [...of]));
}

function ofRun(critic: RunCritic, cells: ReadonlyMap<string, string>): Unread {
  const { run, method, base, startedAt, experiment, folder } = critic;
  const when = ago(startedAt, Date.now(), t);
  const trained = t('{0} on {1}', methodWord(method, t), baseName({ base }));
  if (experiment === undefined) {
    const id = run === critic.name ? [] : [run];
    return { folder, name: critic.name, from: 'run', about: [trained, when, ...id].join(' · ') };
  }
  const own = path.basename(experiment.folder);
  if (experiment.kind === 'loops')
    return { folder, name: own, from: 'loop', about: [trained, when, run].join(' · ') };
  const cell = cells.get(run);
  return {
    folder,
    name: cell ?? run,
    from: 'scoreboard',
    about: [own, trained, when, ...(cell === undefined ? [] : [run])].join(' · '),
  };
}

async function figureOf(place: CriticPlace, engine: Engine, kept: KeptCredit): Promise<string> {
  try {
    const { id } = await openCriticAt(place);
    return verdictWords((await kept.agreement(engine, id)).verdicts, t);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}
