import * as vscode from 'vscode';
import {
  agreementIn,
  type PeoplesAgreement,
  type Disagreement,
} from '../../core/evaluation/people/agreement';
import { PeoplesOpinions } from '../../core/evaluation/people/opinions';
import { parseAgentMessage } from '../../core/dialogue/protocol';
import {
  PageChoices,
  type MeasureAgreement,
  type PeopleAndMeasures,
} from '../../core/evaluation/people/measures';
import { measureInWords, reliance } from '../../core/evaluation/people/words';
import { Fault } from '../../core/fault';
import {
  type FromWebview,
  type ToWebview,
  judgements,
  type DisagreementView,
  type MeasuresView,
  type MeasureView,
} from '../../../webview/people/protocol';
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
    const measures = await measuresView(this.choices.agreement(log, engine.pages, filter));
    if (measures !== undefined && number === this.sent) await this.post({ ...shown, measures });
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

export function agreementView({
  people,
  shared,
  alpha,
  disagreements,
}: PeoplesAgreement): Pick<ToWebview, 'people' | 'shared' | 'alpha' | 'disagreements' | 'left'> {
  const alphas = judgements.map((kind) => {
    const { alpha: value, interval, units } = alpha[kind];
    const reliable = reliance(alpha[kind]);
    return [
      kind,
      {
        units,
        ...(value !== undefined && { alpha: value }),
        ...(interval && { interval }),
        ...(reliable && { reliance: reliable }),
      },
    ];
  });
  const shown = disagreements.slice(0, SHOWN);
  return {
    ...{ people, shared },
    alpha: Object.fromEntries(alphas) as ToWebview['alpha'],
    disagreements: shown.map(disagreementView),
    left: disagreements.length - shown.length,
  };
}

/** A sentence where pages cannot be drawn here. */
export async function measuresView(
  found: Promise<PeopleAndMeasures | undefined>,
): Promise<MeasuresView | string | undefined> {
  try {
    const all = await found;
    return all && { ...all, measures: all.measures.map(measureView) };
  } catch (error) {
    if (error instanceof Fault && error.code === 'page/no-browser') return error.message;
    throw error;
  }
}

function measureView(measured: MeasureAgreement): MeasureView {
  const { rate: value, interval, choices: of, ties } = measured;
  return { name: measureInWords(measured), ties, ...(value !== null && { rate: { value, interval, of } }) };
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
