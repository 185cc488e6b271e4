import * as vscode from 'vscode';
import type { Configuration } from '../configuration';
import type { ModelFolders } from './folders';

const { t } = vscode.l10n;

interface Choice extends vscode.QuickPickItem {
  /** Undefined: one message at a time. */
  readonly second?: string;
  readonly opensSetting?: true;
}

const SETTING = 'tandem.candidates.secondAgent';

/** Asks whether two candidates are shown for each message of the agent, and who writes the other one. */
export class CandidateChoice {
  constructor(
    private readonly configuration: Configuration,
    private readonly folders: ModelFolders,
  ) {}

  async choose(): Promise<void> {
    const chosen = await vscode.window.showQuickPick(this.choices(), {
      title: t('Two candidates for each message of the agent'),
      placeHolder: t('Who writes them? They are shown unnamed and in random order.'),
      matchOnDetail: true,
    });
    if (chosen === undefined) return;
    await this.configuration.set('candidates.show', chosen.second !== undefined);
    if (chosen.second !== undefined) await this.configuration.set('candidates.secondAgent', chosen.second);
    if (chosen.opensSetting === true) {
      await vscode.commands.executeCommand('workbench.action.openWorkspaceSettings', { query: SETTING });
    }
  }

  private choices(): Choice[] {
    const { agent, secondAgent, showsCandidates } = this.configuration;
    const now = showsCandidates ? secondAgent : undefined;
    const mark = (second: string | undefined): string => (second === now ? t('now') : '');
    const others = this.folders.places
      .map(({ spec, name }) => ({ spec, name }))
      .filter(({ spec }) => spec !== agent);
    const isListed = secondAgent === '' || others.some(({ spec }) => spec === secondAgent);
    return [
      {
        label: `$(split-horizontal) ${t('The agent writes both')}`,
        detail: t('Each with a seed of its own: which message is better, of one model?'),
        description: mark(''),
        second: '',
      },
      ...[...others, ...(isListed ? [] : [{ spec: secondAgent, name: secondAgent }])].map(
        ({ spec, name }) => ({
          label: `$(hubot) ${name}`,
          detail: t('Writes the other one: which of the two models is better?'),
          description: mark(spec),
          second: spec,
        }),
      ),
      {
        label: `$(settings-gear) ${t('Another model…')}`,
        detail: t('Type its name into {0}, for example openai:<model>@<base URL>', SETTING),
        second: secondAgent,
        opensSetting: true,
      },
      {
        label: `$(circle-slash) ${t('One message at a time')}`,
        detail: t('No candidates'),
        description: mark(undefined),
      },
    ];
  }
}
