import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import type { Agreement } from '../../core/evaluation/agreement';
import type { Critic, CriticPlace, RunCritic, HeldOut } from '../../core/training/credit/critics';
import type { Engine } from '../engine';
import { ago, baseName, methodWord } from '../words';
import type { KeptCredit } from './creditCache';
import { heldOutWords, verdictWords } from './words';

const { t } = vscode.l10n;

export interface OfferedCritic extends CriticPlace {
  readonly from: 'run' | 'loop' | 'scoreboard' | 'folder';
  readonly about: string;
  readonly figures: CriticFigures | { readonly problem: string };
}

export interface CriticFigures {
  readonly critic: Critic;
  readonly agreement: Agreement;
  /** Absent for a value head, which is measured differently, and where the run did not measure it. */
  readonly heldOut?: HeldOut | undefined;
}

type Unread = Omit<OfferedCritic, 'figures'>;

interface Sources {
  readonly dataFolders: readonly string[];
  readonly folders: readonly CriticPlace[];
  /** Of the log with the shown dialogues. */
  readonly engine: Engine;
  readonly kept: KeptCredit;
}

/** Each kind newest first. */
export async function offeredCritics({
  dataFolders,
  folders,
  engine,
  kept,
}: Sources): Promise<OfferedCritic[]> {
  const { criticsIn } = await import('../../core/training/credit/critics');
  const made = (await Promise.all(dataFolders.map(criticsIn))).flat();
  const named = made.map(ofRun);
  const others = folders
    .filter(({ folder }) => existsSync(folder) && made.every((critic) => critic.folder !== folder))
    .map((place): Unread => ({
      ...{ ...place, from: 'folder' },
      about: vscode.workspace.asRelativePath(place.folder, false),
    }));
  return Promise.all(
    [...named, ...others].map(async (critic) => ({
      ...critic,
      figures: await figuresOf(critic, engine, kept),
    })),
  );
}

function ofRun({ run, name, method, base, startedAt, experiment, folder }: RunCritic): Unread {
  const when = ago(startedAt, Date.now(), t);
  const trained = t('{0} on {1}', methodWord(method, t), baseName({ base }));
  const id = run === name ? [] : [run];
  if (experiment === undefined)
    return { folder, name, from: 'run', about: [trained, when, ...id].join(' · ') };
  const own = path.basename(experiment.folder);
  if (experiment.kind === 'loops')
    return { folder, name: own, from: 'loop', about: [trained, when, run].join(' · ') };
  return { folder, name, from: 'scoreboard', about: [own, trained, when, ...id].join(' · ') };
}

async function figuresOf(
  place: CriticPlace,
  engine: Engine,
  kept: KeptCredit,
): Promise<OfferedCritic['figures']> {
  try {
    const critic = await openCriticAt(place);
    const { heldOutOf } = await import('../../core/training/credit/critics');
    const heldOut = critic.about.score === 'log-ratio' ? await heldOutOf(place.folder) : undefined;
    return { critic, agreement: await kept.agreement(engine, critic.id), heldOut };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { problem: error.message };
  }
}

/** Its figures, or why it cannot be read. */
export function figureWords({ figures }: Pick<OfferedCritic, 'figures'>): string {
  if ('problem' in figures) return figures.problem;
  const { heldOut, agreement } = figures;
  return [
    ...(heldOut === undefined ? [] : [heldOutWords(heldOut, t)]),
    verdictWords(agreement.verdicts, t),
  ].join(' · ');
}

/** @throws {Fault} with one sentence, whatever is wrong with the folder */
export async function openCriticAt({ folder }: CriticPlace): Promise<Critic> {
  const { openCritic } = await import('../../core/training/credit/critics');
  try {
    return openCritic(folder);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const message = vscode.l10n.t('The critic cannot be read: {0}', messageOf(error));
    throw new Fault('editor/critic-unreadable', message, { cause: error });
  }
}
