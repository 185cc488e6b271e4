import * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import type { CriticPlace } from '../../core/training/credit/critics';
import { idOf } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { recall } from '../recall';
import type { KeptCredit } from './creditCache';
import { figureWords, offeredCritics, type OfferedCritic } from './criticOptions';
import { offeredPlay, type CreditPlace, type OfferedPlay } from './playedCredits';

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

  /** @param engine of the log with the shown dialogues */
  offered(engine: Engine): Promise<OfferedCritic[]> {
    const { folders, kept } = this;
    const dataFolders = [...new Set(this.engines.all.flatMap(({ dataFolder }) => dataFolder || []))];
    return offeredCritics({ dataFolders, folders, engine, kept });
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
      ...headingsOfKinds().map(({ from, name }) => ({
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
    const [chosen] =
      (await vscode.window.showOpenDialog({
        title: t('The folder of a critic'),
        openLabel: t('Choose'),
        canSelectFiles: false,
        canSelectFolders: true,
      })) ?? [];
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

const headingsOfKinds = (): { readonly from: OfferedCritic['from']; readonly name: string }[] => [
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
