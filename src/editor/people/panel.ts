import * as vscode from 'vscode';
import type { FromWebview, ToWebview } from '../../../webview/people/protocol';
import { agreementIn } from '../../core/evaluation/people/agreement';
import { PeoplesOpinions } from '../../core/evaluation/people/opinions';
import type { Panels } from '../panel';
import { saveOfPage } from '../savePage';
import { ListPanel, onePanel, type ListContext, type Listed } from '../trajectories/listPanel';
import { agreementView } from './view';

const { t } = vscode.l10n;

interface PeopleContext extends ListContext {
  readonly open: (episode: string) => Promise<unknown>;
}

class PeoplePanel extends ListPanel<'people', ToWebview> {
  private readonly opinions = new PeoplesOpinions();

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: PeopleContext,
  ) {
    super(panel, on, { name: 'people', icon: 'organization' });
  }

  override receive(message: FromWebview): Thenable<unknown> | undefined {
    switch (message.type) {
      case 'ready':
        this.show();
        return undefined;
      case 'filter':
        return this.chooseFilter();
      case 'open':
        return this.on.open(message.episode);
      case 'save':
        return saveOfPage(message.file, this.on.log.engine);
    }
  }

  protected override onDidChangeDialogues(episodes: readonly string[]): void {
    this.opinions.forget(episodes);
  }

  protected override async send({ log, filter, filterInWords, name }: Listed): Promise<void> {
    this.title = name === undefined ? t('People and agreement') : t('{0}: people and agreement', name);
    const agreement = log === undefined ? nobody : await agreementIn(log, this.opinions, filter);
    await this.post({ type: 'show', filter: filterInWords, ...agreementView(agreement) });
  }
}

const nothing = { alpha: undefined, units: 0, values: 0 };
const nobody = {
  people: [],
  shared: 0,
  alpha: { stars: nothing, thumbs: nothing, choices: nothing },
  disagreements: [],
};

export const peoplePanels = (on: PeopleContext): Panels<'log', PeoplePanel> =>
  onePanel('people', on, (panel) => new PeoplePanel(panel, on));
