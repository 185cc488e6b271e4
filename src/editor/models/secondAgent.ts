import * as vscode from 'vscode';
import type { FolderSettings } from '../configuration';
import { chosenSpec, type SpecChoice, type ModelChoice } from './choice';

const { t } = vscode.l10n;

type CandidateRow = SpecChoice | (vscode.QuickPickItem & { readonly spec: undefined });

export class SecondAgentChoice {
  constructor(
    private readonly configuration: FolderSettings,
    private readonly models: Pick<ModelChoice, 'choices'>,
  ) {}

  async choose(): Promise<void> {
    const chosen = await vscode.window.showQuickPick(this.rows(), {
      title: t('Two candidates for each message of the agent'),
      placeHolder: t('Choose which models write them. Candidates are shown unnamed and in random order.'),
      matchOnDetail: true,
    });
    if (chosen === undefined) return;
    if (chosen.spec === undefined) {
      await this.configuration.set('candidates.show', false);
      return;
    }
    const second = await chosenSpec(chosen);
    if (second !== undefined) await this.show(second);
  }

  /** @param second empty when the agent writes both */
  async show(second: string): Promise<void> {
    await this.configuration.set('candidates.secondAgent', second);
    await this.configuration.set('candidates.show', true);
  }

  private async rows(): Promise<CandidateRow[]> {
    const { agent, secondAgent, showsCandidates } = this.configuration;
    const now = (isNow: boolean): string => (isNow ? t('now') : '');
    const all = await this.models.choices('secondAgent', showsCandidates ? secondAgent : '');
    const isListed = secondAgent === '' || all.some(({ spec }) => spec === secondAgent);
    return [
      {
        label: `$(split-horizontal) ${t('The agent writes both')}`,
        detail: t('One model, two seeds: which message is better?'),
        description: now(showsCandidates && secondAgent === ''),
        spec: '',
      },
      ...(isListed
        ? []
        : [
            {
              label: `$(hubot) ${secondAgent}`,
              detail: t('Writes the second candidate: which model is better?'),
              description: now(showsCandidates),
              spec: secondAgent,
            },
          ]),
      ...all.filter(({ spec }) => spec !== agent || spec === secondAgent),
      {
        label: `$(circle-slash) ${t('One message at a time')}`,
        detail: t('No candidates'),
        description: now(!showsCandidates),
        spec: undefined,
      },
    ];
  }
}
