import * as vscode from 'vscode';
import { linesOf } from '../../../core/text';
import type { Trial } from '../../../core/model/connection';
import { shown, type Given, type Head } from '../../steps';
import type { Server } from '../server';

const { t } = vscode.l10n;

/** A way to keep the connection. */
export interface Keep {
  readonly label: string;
  readonly does: 'keep' | 'keep as agent' | 'keep as second agent' | 'keep as simulator';
}

/** A person's choices before a connection is kept. */
export type ReviewAction = Keep['does'] | 'name' | 'baseUrl' | 'key' | 'model' | 'sampling' | 'price';

interface ReviewItem extends vscode.QuickPickItem {
  readonly does?: ReviewAction | 'test';
}

export interface Review extends Head {
  readonly server: Server;
  readonly hasKey: boolean;
  /** Ways to keep the connection, the usual one first. */
  readonly keeps: readonly Keep[];
  /** Trial of exactly these settings; undefined before they have been tested. */
  readonly trial: Trial | undefined;
  readonly test: (signal: AbortSignal) => Promise<Trial>;
}

/** Shows a whole connection: to test it, to change a part of it, to keep it. */
export async function review(step: Review): Promise<Given<ReviewAction>> {
  const pick = vscode.window.createQuickPick<ReviewItem>();
  const { title, step: number, totalSteps } = step;
  Object.assign(pick, { title, step: number, totalSteps, placeholder: placeholderOf(step.server) });
  pick.matchOnDescription = true;
  pick.items = itemsOf(step, step.trial);
  const controller = new AbortController();
  const test = async (): Promise<void> => {
    pick.busy = true;
    pick.items = itemsOf(step, 'testing');
    try {
      show(await step.test(controller.signal));
    } catch (error) {
      // The person has left, so nobody is there to read the error.
      if (!controller.signal.aborted) throw error;
    }
  };
  const show = (trial: Trial): void => {
    pick.busy = false;
    pick.items = itemsOf(step, trial);
    pick.activeItems = pick.items.filter(({ does }) => does === (trial.works ? step.keeps[0]?.does : 'test'));
  };
  const given = await shown<ReviewAction>(pick, (give) => [
    pick.onDidAccept(() => {
      const does = pick.activeItems[0]?.does;
      if (does === 'test') void test();
      else if (does !== undefined) give(does);
    }),
  ]);
  controller.abort();
  return given;
}

function itemsOf({ server, hasKey, keeps }: Review, trial: Trial | 'testing' | undefined): ReviewItem[] {
  const { name, baseUrl, model } = server;
  return [
    ...keeps.map(({ label, does }, index) => ({
      label: `$(${index === 0 ? 'check' : 'blank'}) ${label}`,
      does,
    })),
    { ...trialItem(trial), does: 'test' },
    ...moreItems(trial),
    { label: t('Change'), kind: vscode.QuickPickItemKind.Separator },
    { label: t('Name'), description: name, does: 'name' },
    { label: t('Address'), description: baseUrl, does: 'baseUrl' },
    { label: t('Key'), description: hasKey ? t('kept in the secret storage') : t('none'), does: 'key' },
    { label: t('Model'), description: model, does: 'model' },
    { label: t('Sampling'), description: samplingWords(server), does: 'sampling' },
    { label: t('Price'), description: priceWords(server), does: 'price' },
  ];
}

function trialItem(trial: Trial | 'testing' | undefined): ReviewItem {
  const label = `$(beaker) ${t('Test Connection')}`;
  if (trial === undefined) return { label, description: t('asks the model for a few words') };
  if (trial === 'testing')
    return { label: `$(loading~spin) ${t('Testing…')}`, description: t('Waiting for first token…') };
  if (!trial.works) return { label: `$(error) ${t('Test Connection Again')}`, detail: trial.what };
  const seconds = (trial.milliseconds / 1000).toFixed(1);
  return {
    label: `$(pass) ${t('Test Connection Again')}`,
    detail: t('It works: answered in {0} s.', seconds),
  };
}

/**
 * Returns the remedy or the notes in as many rows as they take, because a row is one line and cuts off what is longer.
 */
function moreItems(trial: Trial | 'testing' | undefined): ReviewItem[] {
  if (typeof trial !== 'object') return [];
  const sentences = trial.works ? trial.notes : [trial.remedy];
  return sentences
    .flatMap((sentence) => linesOf(sentence, ROW_CHARACTERS))
    .map((line) => ({ label: '$(blank)', description: line }));
}

/** Characters that fit into a row of the list. */
const ROW_CHARACTERS = 76;

function placeholderOf({ model, baseUrl }: Server): string {
  return t('{0} at {1}: test it, change it, or keep it', model, baseUrl);
}

function samplingWords({ sampling = {} }: Server): string {
  const { temperature, topP, topK, maxTokens } = sampling;
  const words = [
    ...(temperature === undefined ? [] : [t('temperature {0}', temperature)]),
    ...(topP === undefined ? [] : [t('top-p {0}', topP)]),
    ...(topK === undefined ? [] : [t('top-k {0}', topK)]),
    ...(maxTokens === undefined ? [] : [t('at most {0} tokens', maxTokens)]),
  ];
  return words.length === 0 ? t('as in the settings') : words.join(', ');
}

function priceWords({ price }: Server): string {
  return price === undefined
    ? t('none: no cost is shown')
    : t('${0} per million prompt tokens, ${1} per million completion tokens', price.prompt, price.completion);
}
