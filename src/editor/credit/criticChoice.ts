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

const { t } = vscode.l10n;

const CHOSEN = 'tandem.critic';
const FOLDERS = 'tandem.criticFolders';

/** A heading has no place. */
interface Item extends vscode.QuickPickItem {
  readonly place?: () => Promise<CriticPlace | undefined> | CriticPlace;
}

const placeSchema = lazily(() => z.object({ folder: z.string(), name: z.string() }));

/** The critic that the replays of this workspace show. */
export class CriticChoice implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Pick<Engines, 'all'>,
    private readonly kept: KeptCredit,
    private readonly memory: vscode.Memento,
  ) {}

  get chosen(): CriticPlace | undefined {
    return recall(this.memory, CHOSEN, placeSchema);
  }

  /**
   * @param engine of the log with the shown dialogues
   * @returns undefined when the person cancelled, or there is no critic
   */
  async choose(engine: Engine): Promise<CriticPlace | undefined> {
    const items = await this.items(engine);
    if (items.length === 0) return this.sayHow();
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

  async use({ folder, name }: CriticPlace): Promise<void> {
    await this.memory.update(CHOSEN, { folder, name });
    this.changed.fire();
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
    return headings.flatMap(({ name, of }) =>
      of.length === 0 ? [] : [{ label: name, kind: vscode.QuickPickItemKind.Separator }, ...of.map(itemOf)],
    );
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

  private async sayHow(): Promise<CriticPlace | undefined> {
    const train = t('New Run…');
    const choose = t('Choose Folder…');
    const answer = await vscode.window.showInformationMessage(
      t(
        'There is no critic in this workspace. A SWEET-RL run trains one; or choose the critic of a run elsewhere.',
      ),
      train,
      choose,
    );
    if (answer === train) await vscode.commands.executeCommand(idOf('newRun'));
    if (answer !== choose) return undefined;
    const place = await this.askFolder();
    if (place !== undefined) await this.use(place);
    return place;
  }
}

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
