import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { guidelinePlaces, guidelinesOf } from '../../core/task/guidelines';
import { RENDERED } from '../documents';
import type { Engines } from '../engines';

const { t } = vscode.l10n;

const SEEN = 'tandem.guidelinesSeen';

/** The instructions of a pack's author for its players: a Markdown file, shown as a preview beside the task. */
export class Guidelines {
  constructor(
    private readonly engines: Engines,
    private readonly memory: vscode.Memento,
  ) {}

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

  /** Opened with the first task that is played of a pack, unless the settings say no. The focus stays where it is. */
  async openFirst(pack: string): Promise<void> {
    if (!this.engines.of(pack).configuration.opensGuidelines || this.seen.includes(pack)) return;
    const file = await guidelinesOf(pack);
    if (file !== undefined) await this.show(pack, file, { preserveFocus: true });
  }

  private get seen(): readonly string[] {
    return this.memory.get<readonly string[]>(SEEN, []);
  }

  private async show(pack: string, file: string, { preserveFocus = false } = {}): Promise<void> {
    // The command that shows a preview to the side takes the focus, and may do so later than it returns. Only for
    // `Beside` does this one leave the active group as it is.
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), RENDERED, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus,
      preview: false,
    } satisfies vscode.TextDocumentShowOptions);
    if (!this.seen.includes(pack)) await this.memory.update(SEEN, [...this.seen, pack]);
  }
}
