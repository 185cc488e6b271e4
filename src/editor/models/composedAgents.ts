import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { OfferedCritic } from '../credit/criticOptions';

const { t } = vscode.l10n;

/** A model of which an agent can be composed. */
export interface PartChoice extends vscode.QuickPickItem {
  readonly spec: string;
}

/** Asks what an agent is made of, and returns its name; undefined when the person cancelled. */
export interface ComposedAgents {
  /** @throws {Fault} `editor/no-critic` if no critic here can choose at play */
  readonly mixture: (models: readonly PartChoice[]) => Promise<string | undefined>;
  readonly refined: (models: readonly PartChoice[]) => Promise<string | undefined>;
}

/** @param critics those of this workspace */
export const composedAgents = (critics: () => Promise<readonly OfferedCritic[]>): ComposedAgents => ({
  async mixture(models) {
    const fit = (await critics()).filter(canChoose);
    if (fit.length === 0) {
      throw new Fault(
        'editor/no-critic',
        t(
          'No critic in this workspace can choose between messages. In New Run…, train one with SWEET-RL that does not see the hidden information, and let the run write ONNX graphs.',
        ),
      );
    }
    const title = t('A Critic Chooses');
    const parts = await vscode.window.showQuickPick(models, {
      ...{ title, canPickMany: true, matchOnDetail: true },
      placeHolder: t('Choose the models that write candidates for each message: one or more'),
    });
    if (parts === undefined || parts.length === 0) return undefined;
    const rows = fit.map((critic) => ({ label: `$(law) ${critic.name}`, detail: critic.about, critic }));
    const chosen = await vscode.window.showQuickPick(rows, {
      title,
      placeHolder: t('Choose the critic: the message with its highest score is said'),
    });
    return chosen && `mixture:${parts.map(({ spec }) => spec).join('+')},critic=${chosen.critic.folder}`;
  },

  async refined(models) {
    const model = await vscode.window.showQuickPick(models, {
      title: t('Ask Where Drafts Differ'),
      placeHolder: t('Choose the model that writes the drafts'),
      matchOnDetail: true,
    });
    return model && `refine:${model.spec}`;
  },
});

/** At play nobody may read the hidden information, and scores come from graphs. */
const canChoose = ({ figures }: OfferedCritic): boolean =>
  !('problem' in figures) && figures.critic.runner === 'onnx' && !figures.critic.about.hidden_information;
