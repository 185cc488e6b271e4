import * as vscode from 'vscode';
import { curveFindings, curveTable } from '../../core/evaluation/report/curve';
import type { SavedCurve, SavedCurves } from '../../core/evaluation/savedCurves';
import type { FromWebview, ToWebview } from '../../../webview/curves/protocol';
import { idOf } from '../contributions';
import type { ShownLog } from '../engines';
import { language } from '../pageHtml';
import { Panel, type Asks } from '../panel';
import { onePanel, type Panels } from '../panels';
import { saveOfPage } from '../savePage';
import { baseName, dates, methodTitle } from '../words';
import type { RunWatch } from './runWatch';

const { t } = vscode.l10n;

interface CurveContext {
  readonly extension: vscode.Uri;
  readonly log: ShownLog;
  readonly watch: RunWatch;
}

/** Learning curves of the shown log, which `tandem curve` makes. */
class CurvePanel extends Panel<FromWebview, ToWebview> {
  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: CurveContext,
  ) {
    super(panel, { ...on, name: 'curves', icon: 'graph-line', errors: on.log.engine });
    this.owns(
      on.watch.onDidLook(() => this.tell()),
      on.log.onDidChange(() => this.tell()),
    );
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => this.on.watch.look(),
    play: () => vscode.commands.executeCommand(idOf('playNext')),
    collect: () => vscode.commands.executeCommand(idOf('collect')),
    save: ({ file }) => saveOfPage(file, this.on.log.engine),
  };

  private tell(): void {
    if (this.isInSight) this.send().catch((error: unknown) => this.on.log.engine.report(error));
  }

  private async send(): Promise<void> {
    const { log, watch } = this.on;
    this.title = log.name === undefined ? t('Learning curves') : t('Learning curves of {0}', log.name);
    await this.postView(curvesView(await curvesOf(watch)));
  }
}

export const curvePanels = (on: CurveContext): Panels<'one', CurvePanel> =>
  onePanel('curves', on.log.engine, (panel) => new CurvePanel(panel, on));

/** Those of the shown log; none where no run may be read. */
export async function curvesOf({ runs, all }: Pick<RunWatch, 'runs' | 'all'>): Promise<SavedCurves> {
  if (runs === undefined) return { curves: [], unreadable: [] };
  const { savedCurves } = await import('../../core/evaluation/savedCurves');
  return savedCurves(runs.dataFolder, new Set(all.map(({ id }) => id)));
}

export const curvesView = ({ curves, unreadable }: SavedCurves): ToWebview => ({
  type: 'show',
  curves: curves.map((saved) => ({
    title: titleOf(saved),
    findings: curveFindings(saved.curve),
    table: curveTable(saved.curve),
    moreHelps: saved.curve.moreHelps === 'likely',
  })),
  problems: unreadable.map((file) =>
    t(
      '{0} is no learning curve that this version reads: run the same tandem curve again, or delete the file.',
      file,
    ),
  ),
});

function titleOf({ at, method, base }: SavedCurve): string {
  const moments = dates(language(), {
    ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  });
  return t('{0} of {1}, {2}', methodTitle(method, t), baseName({ base }), moments.format(new Date(at)));
}
