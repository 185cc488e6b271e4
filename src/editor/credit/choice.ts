import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import type { CriticPlace, RunCritic } from '../../core/training/credit/critics';
import type { Engines } from '../engines';
import { ago } from '../trajectories/words';

const { t } = vscode.l10n;

const CHOSEN = 'tandem.critic';
const FOLDERS = 'tandem.criticFolders';
/** A row of the list, and how it comes to the critic. */
interface Item extends vscode.QuickPickItem {
  readonly place: () => Promise<CriticPlace | undefined> | CriticPlace;
}

const placeSchema = z.object({ folder: z.string(), name: z.string() });

/** Which critic the replays of this workspace show: one of a run, or one in a folder that a person pointed at. */
export class CriticChoice implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Pick<Engines, 'all'>,
    private readonly memory: vscode.Memento,
  ) {}

  /** The one that was used last. */
  get chosen(): CriticPlace | undefined {
    return placeSchema.safeParse(this.memory.get(CHOSEN)).data;
  }

  /** Asks which. @returns undefined when the person turned back, or there is none */
  async choose(): Promise<CriticPlace | undefined> {
    const items = await this.items();
    if (items.length === 0) return this.sayHow();
    const picked = await vscode.window.showQuickPick([...items, this.another], {
      title: t('Choose the Critic'),
      placeHolder: t('Whose credit the replays show'),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    const place = await picked?.place();
    if (place !== undefined) await this.use(place);
    return place;
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async use(place: CriticPlace): Promise<void> {
    await this.memory.update(CHOSEN, place);
    this.changed.fire();
  }

  private get another(): Item {
    return {
      label: `$(folder) ${t('A folder…')}`,
      detail: t('The folder critic of a run elsewhere'),
      place: () => this.askFolder(),
    };
  }

  private async items(): Promise<Item[]> {
    const { criticsOfRuns } = await import('../../core/training/credit/critics');
    const dataFolders = new Set(this.engines.all.flatMap(({ dataFolder }) => dataFolder || []));
    const ofRuns = (await Promise.all([...dataFolders].map(criticsOfRuns))).flat();
    const folders = this.folders.filter(
      ({ folder }) => existsSync(folder) && ofRuns.every((critic) => critic.folder !== folder),
    );
    const { chosen } = this;
    const isLast = ({ folder }: CriticPlace): boolean => folder === chosen?.folder;
    const places: (CriticPlace | RunCritic)[] = [...ofRuns, ...folders].sort(
      (a, b) => Number(isLast(b)) - Number(isLast(a)),
    );
    return places.map((place) => ({
      label: `$(law) ${place.name}`,
      ...(isLast(place) && { description: t('used last') }),
      detail: 'run' in place ? aboutRun(place) : vscode.workspace.asRelativePath(place.folder, false),
      place: () => ({ folder: place.folder, name: place.name }),
    }));
  }

  /** Those that were pointed at before. */
  private get folders(): CriticPlace[] {
    return z.array(placeSchema).catch([]).parse(this.memory.get(FOLDERS));
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
    const { folder } = openCritic(chosen.fsPath); // one that is none is refused with the reason
    const place = { folder, name: nameOfFolder(folder) };
    const others = this.folders.filter((one) => one.folder !== folder);
    await this.memory.update(FOLDERS, [place, ...others]);
    return place;
  }

  /** There is none yet. */
  private async sayHow(): Promise<CriticPlace | undefined> {
    const choose = t('Choose Folder…');
    const answer = await vscode.window.showInformationMessage(
      t(
        'There is no critic in the runs of this workspace: a run of SWEET-RL trains one (the command tandem train), or choose the folder critic of a run elsewhere.',
      ),
      choose,
    );
    if (answer !== choose) return undefined;
    const place = await this.askFolder();
    if (place !== undefined) await this.use(place);
    return place;
  }
}

function aboutRun({ run, name, method, base, startedAt }: RunCritic): string {
  const made = t('{0} on {1}', method, path.basename(base));
  return [...(run === name ? [] : [run]), made, ago(startedAt, Date.now(), t)].join(' · ');
}
