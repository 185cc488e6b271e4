import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import * as vscode from 'vscode';
import { lazily } from '../../core/lazily';
import type { CriticPlace, Critic, RunCritic, HeldOut } from '../../core/training/credit/critics';
import { Owner } from '../background';
import { idOf } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { recall } from '../recall';
import { offeredPlay, type CreditPlace, type OfferedPlay } from './playedCredits';
import { Fault, messageOf } from '../../core/fault';
import type { Agreement, TurnJudgements } from '../../core/evaluation/agreement';
import { ago, baseName, methodWord } from '../words';
import { pickFolder } from '../inputSteps';
import { heldOutWords, verdictWords } from './words';
import type { CreditCache } from '../../core/training/credit/cache';

const { t } = vscode.l10n;

const CHOSEN = 'tandem.critic';
const FOLDERS = 'tandem.criticFolders';

/** A heading has no place. */
interface Item extends vscode.QuickPickItem {
  readonly place?: () => Promise<CreditPlace | undefined> | CreditPlace;
}

const placeSchema = lazily(() => z.object({ folder: z.string(), name: z.string() }));

const chosenSchema = lazily(() =>
  placeSchema().extend({
    by: z
      .object({
        kind: z.enum(['answer-now', 'rollouts']),
        agent: z.string(),
        simulator: z.string().optional(),
      })
      .optional(),
  }),
);

/** The critic that the replays of this workspace show. */
export class CriticChoice implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Pick<Engines, 'all'>,
    private readonly kept: KeptCredit,
    private readonly memory: vscode.Memento,
  ) {}

  get chosen(): CreditPlace | undefined {
    return recall(this.memory, CHOSEN, chosenSchema);
  }

  /**
   * @param engine of the log with the shown dialogues
   * @returns undefined when the person cancelled, or begins a run instead
   */
  async choose(engine: Engine): Promise<CreditPlace | undefined> {
    const items = await this.items(engine);
    const apart = { label: '', kind: vscode.QuickPickItemKind.Separator };
    const picked = await vscode.window.showQuickPick<Item>([...items, apart, this.another], {
      title: t('Choose the Critic'),
      placeHolder: t('Choose the critic whose credit replays show'),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    const place = await picked?.place?.();
    if (place !== undefined) await this.use(place);
    return place;
  }

  /**
   * Each kind newest first.
   * @param engine of the log with the shown dialogues
   */
  async offered(engine: Engine): Promise<OfferedCritic[]> {
    const { criticsIn } = await import('../../core/training/credit/critics');
    const dataFolders = [...new Set(this.engines.all.flatMap(({ dataFolder }) => dataFolder || []))];
    const made = (await Promise.all(dataFolders.map(criticsIn))).flat();
    const others = this.folders
      .filter(({ folder }) => existsSync(folder) && made.every((critic) => critic.folder !== folder))
      .map((place): Unread => ({
        ...{ ...place, from: 'folder' },
        about: vscode.workspace.asRelativePath(place.folder, false),
      }));
    const all = [...made.map(ofRun), ...others];
    return Promise.all(
      all.map(async (critic) => ({ ...critic, figures: await figuresOf(critic, engine, this.kept) })),
    );
  }

  dispose(): void {
    this.changed.dispose();
  }

  async use({ folder, name, by }: CreditPlace): Promise<void> {
    await this.memory.update(CHOSEN, { folder, name, by });
    this.changed.fire();
  }

  private get train(): Item {
    return {
      label: `$(rocket) ${t('New Run…')}`,
      detail: t('There is no critic in this workspace; a SWEET-RL run trains one'),
      place: async () => {
        await vscode.commands.executeCommand(idOf('newRun'));
        return undefined;
      },
    };
  }

  private get another(): Item {
    return {
      label: `$(folder) ${t('A folder…')}`,
      detail: t('The folder “critic” of a run elsewhere'),
      place: () => this.askFolder(),
    };
  }

  /** The last used one first, then each kind under its heading. */
  private async items(engine: Engine): Promise<Item[]> {
    const { chosen } = this;
    const critics = await this.offered(engine);
    const isLast = ({ folder }: CriticPlace): boolean => folder === chosen?.folder;
    const headings = [
      { name: t('last used'), of: critics.filter(isLast) },
      ...headingsOfKinds.map(({ from, name }) => ({
        ...{ name, of: critics.filter((critic) => critic.from === from && !isLast(critic)) },
      })),
    ];
    const named = headings.flatMap(({ name, of }) =>
      of.length === 0 ? [] : [heading(name), ...of.map(itemOf)],
    );
    const played = offeredPlay(engine).map(playItemOf);
    return [
      ...(critics.length === 0 ? [this.train] : named),
      ...(played.length === 0 ? [] : [heading(t('without a critic')), ...played]),
    ];
  }

  private get folders(): CriticPlace[] {
    return recall(this.memory, FOLDERS, () => z.array(placeSchema())) ?? [];
  }

  private async askFolder(): Promise<CriticPlace | undefined> {
    const chosen = await pickFolder(t('The folder of a critic'), t('Choose'));
    if (chosen === undefined) return undefined;
    const { nameOfFolder, openCritic } = await import('../../core/training/credit/critics');
    const { folder } = openCritic(chosen.fsPath); // refuses an invalid folder
    const place = { folder, name: nameOfFolder(folder) };
    const others = this.folders.filter((one) => one.folder !== folder);
    await this.memory.update(FOLDERS, [place, ...others]);
    return place;
  }
}

const heading = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });

const headingsOfKinds: readonly { readonly from: OfferedCritic['from']; readonly name: string }[] = [
  { from: 'run', name: t('runs') },
  { from: 'loop', name: t('loops') },
  { from: 'scoreboard', name: t('scoreboards') },
  { from: 'folder', name: t('other folders') },
];

const itemOf = (critic: OfferedCritic): Item => ({
  ...{ label: `$(law) ${critic.name}`, description: figureWords(critic), detail: critic.about },
  place: () => critic,
});

const playItemOf = (play: OfferedPlay): Item => ({
  ...{ label: `$(debug-restart) ${play.name}`, detail: play.about },
  place: () => play,
});

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

interface Kept {
  readonly cache: CreditCache;
  readonly said: TurnJudgements;
}

/** Critics' scores and people's judgements of the same turns, by log. */
export class KeptCredit extends Owner {
  private readonly byDataFolder = new Map<string, Kept>();

  constructor(
    engines: Pick<Engines, 'onDidChangeLog'>,
    private readonly output: vscode.LogOutputChannel,
  ) {
    super();
    this.owns(
      engines.onDidChangeLog(({ engine, episodes }) =>
        this.byDataFolder.get(engine.dataFolder)?.said.forget(episodes),
      ),
    );
  }

  async cache(engine: Engine): Promise<CreditCache> {
    return (await this.of(engine)).cache;
  }
  async agreement(engine: Engine, critic: string): Promise<Agreement> {
    const { agreementWith } = await import('../../core/evaluation/agreement');
    const { cache, said } = await this.of(engine);
    return agreementWith(await engine.log(), critic, await cache.advantages(critic), said);
  }

  private async of({ dataFolder }: Engine): Promise<Kept> {
    const { CreditCache } = await import('../../core/training/credit/cache');
    const { TurnJudgements } = await import('../../core/evaluation/agreement');
    const before = this.byDataFolder.get(dataFolder);
    const kept = before ?? {
      cache: new CreditCache(dataFolder, (sentence) => this.output.warn(sentence)),
      said: new TurnJudgements(),
    };
    this.byDataFolder.set(dataFolder, kept);
    return kept;
  }
}
