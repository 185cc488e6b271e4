import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { CriticPlace, RunCritic } from '../../core/training/credit/critics';
import type { Engine } from '../engine';
import { baseName, methodWord } from '../runs/words';
import { ago } from '../trajectories/words';
import type { KeptCredit } from './kept';
import { verdictWords } from './words';

const { t } = vscode.l10n;

/** A critic that a person can choose: what it is called, and what is known of it. */
export interface OfferedCritic extends CriticPlace {
  readonly from: 'run' | 'loop' | 'scoreboard' | 'folder';
  readonly about: string;
}

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
  const named = await Promise.all(made.map(ofRun));
  const others = folders
    .filter(({ folder }) => existsSync(folder) && made.every((critic) => critic.folder !== folder))
    .map((place): OfferedCritic => ({
      ...{ ...place, from: 'folder' },
      about: vscode.workspace.asRelativePath(place.folder, false),
    }));
  return Promise.all(
    [...named, ...others].map(async (critic) => ({
      ...critic,
      about: `${critic.about} · ${await figureOf(critic, engine, kept)}`,
    })),
  );
}

async function ofRun(critic: RunCritic): Promise<OfferedCritic> {
  const { run, method, base, startedAt, experiment, folder } = critic;
  const when = ago(startedAt, Date.now(), t);
  const trained = t('{0} on {1}', methodWord(method, t), baseName({ base }));
  if (experiment === undefined) {
    const id = run === critic.name ? [] : [run];
    return { folder, name: critic.name, from: 'run', about: [...id, trained, when].join(' · ') };
  }
  const own = path.basename(experiment.folder);
  if (experiment.kind === 'loops')
    return { folder, name: own, from: 'loop', about: [run, trained, when].join(' · ') };
  const { trainedCells } = await import('../../core/scoreboard/attemptFile');
  const cell = (await trainedCells(experiment.folder)).get(run);
  return { folder, name: cell ?? run, from: 'scoreboard', about: [own, trained, when].join(' · ') };
}

/** How far people agree with it, or why it cannot be read. */
async function figureOf({ folder }: CriticPlace, engine: Engine, kept: KeptCredit): Promise<string> {
  const { openCritic } = await import('../../core/training/credit/critics');
  try {
    return verdictWords((await kept.agreement(engine, openCritic(folder).id)).verdicts, t);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
}
