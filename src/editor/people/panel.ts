import * as vscode from 'vscode';
import {
  agreementIn,
  type PeoplesAgreement,
  type Disagreement,
} from '../../core/evaluation/people/agreement';
import { PeoplesOpinions } from '../../core/evaluation/people/opinions';
import { parseAgentMessage } from '../../core/dialogue/protocol';
import { PageChoices, unlessUndrawn } from '../../core/evaluation/people/measures';
import {
  alphaTable,
  measuresNote,
  measuresTable,
  peopleNotes,
  peopleTable,
} from '../../core/evaluation/report/people';
import type { DisagreementView, FromWebview, ToWebview } from '../../../webview/people/protocol';
import type { Asks } from '../panel';
import { onePanel, type Panels } from '../panels';
import { saveOfPage } from '../savePage';
import { ListPanel, type ListContext, type Listed } from '../dialogue/listPanel';

const { t } = vscode.l10n;

interface PeopleContext extends ListContext {
  readonly open: (episode: string) => Promise<unknown>;
}

class PeoplePanel extends ListPanel<FromWebview, ToWebview> {
  private readonly opinions = new PeoplesOpinions();
  private readonly choices = new PageChoices();
  private sent = 0;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: PeopleContext,
  ) {
    super(panel, on, { name: 'people', icon: 'organization' });
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => this.show(),
    filter: () => this.chooseFilter(),
    open: ({ episode }) => this.on.open(episode),
    save: ({ file }) => saveOfPage(file, this.on.log.engine),
  };

  protected override onDidChangeDialogues(episodes: readonly string[]): void {
    this.opinions.forget(episodes);
    this.choices.forget(episodes);
  }

  protected override async send({ log, filter, filterInWords, engine, name }: Listed): Promise<void> {
    this.title = name === undefined ? t('People and agreement') : t('{0}: people and agreement', name);
    const agreement = log === undefined ? nobody : await agreementIn(log, this.opinions, filter);
    const shown = { type: 'show', filter: filterInWords, ...agreementView(agreement) } as const;
    const number = ++this.sent;
    await this.post(shown);
    if (log === undefined) return;
    // Drawing takes seconds, so all else is shown before.
    const found = await unlessUndrawn(this.choices.agreement(log, engine.pages, filter));
    if (found === undefined || number !== this.sent) return;
    const measures =
      typeof found === 'string' ? found : { table: measuresTable(found), note: measuresNote(found) };
    await this.post({ ...shown, measures });
  }
}

const nothing = { alpha: undefined, units: 0, values: 0 };
const nobody = {
  people: [],
  shared: 0,
  alpha: { stars: nothing, thumbs: nothing, choices: nothing },
  disagreements: [],
};

export const peoplePanels = (on: PeopleContext): Panels<'one', PeoplePanel> =>
  onePanel('people', on.log.engine, (panel) => new PeoplePanel(panel, on));

/** Maximum number of disagreements on the page. */
export const SHOWN = 100;

export function agreementView(
  agreement: PeoplesAgreement,
): Pick<ToWebview, 'people' | 'notes' | 'alpha' | 'disagreements' | 'left'> {
  const { disagreements } = agreement;
  const shown = disagreements.slice(0, SHOWN);
  return {
    people: peopleTable(agreement),
    notes: peopleNotes(agreement),
    alpha: alphaTable(agreement),
    disagreements: shown.map(disagreementView),
    left: disagreements.length - shown.length,
  };
}

function disagreementView(disagreement: Disagreement): DisagreementView {
  const { kind, episode, title, turn, messages, said } = disagreement;
  return {
    ...{ kind, episode, title, said },
    ...(turn !== undefined && { turn }),
    ...(messages && { messages: messages.map(shownText) }),
  };
}

/** As a person saw it: the message, or the answer. */
function shownText(text: string): string {
  const { visible, answer } = parseAgentMessage(text);
  return answer ?? visible;
}
