import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { guidelinePlaces, guidelinesOf } from '../../core/task/guidelines';
import type { Engines } from '../engines';

const { t } = vscode.l10n;

/** The packs, by their files, whose guidelines this workspace has seen. */
const SEEN = 'tandem.guidelinesSeen';

/** What the author of a pack asks of whoever plays it: a Markdown file, shown as a preview beside the task. */
export class Guidelines {
  constructor(
    private readonly engines: Engines,
    private readonly memory: vscode.Memento,
  ) {}

  /** @throws {Fault} `editor/no-guidelines` */
  async open(pack: string): Promise<void> {
    const file = await guidelinesOf(pack);
    if (file === undefined) {
      const [own, common] = guidelinePlaces(pack).map((place) => path.basename(place));
      throw new Fault(
        'editor/no-guidelines',
        t(
          '{0} has no guidelines. Write them as {1} beside it, or as {2} for all packs of its folder.',
          path.basename(pack),
          own!,
          common!,
        ),
      );
    }
    await this.show(pack, file);
  }

  /**
   * Opens them for the first task that is played of a pack which has some, unless the settings say no.
   * @returns whether they were opened
   */
  async openFirst(pack: string): Promise<boolean> {
    if (!this.engines.of(pack).configuration.opensGuidelines || this.seen.includes(pack)) return false;
    const file = await guidelinesOf(pack);
    if (file === undefined) return false;
    await this.show(pack, file);
    return true;
  }

  private get seen(): readonly string[] {
    return this.memory.get<readonly string[]>(SEEN, []);
  }

  private async show(pack: string, file: string): Promise<void> {
    await vscode.commands.executeCommand('markdown.showPreviewToSide', vscode.Uri.file(file));
    if (!this.seen.includes(pack)) await this.memory.update(SEEN, [...this.seen, pack]);
  }
}
