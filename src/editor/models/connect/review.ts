import * as vscode from 'vscode';
import { linesOf } from '../../../core/text';
import type { Trial } from '../../../core/model/connection';
import { shown, type Given, type Head } from '../../inputSteps';
import type { Server } from '../../server';
import { samplingWords } from './numbers';
import { blamed } from './offers';

const { t } = vscode.l10n;

export interface Keep {
  readonly label: string;
  readonly does: 'keep' | 'keep as agent' | 'keep as second agent' | 'keep as simulator';
}

export type ReviewAction = Keep['does'] | 'name' | 'baseUrl' | 'key' | 'model' | 'sampling' | 'price';

interface ReviewItem extends vscode.QuickPickItem {
  readonly does?: ReviewAction | 'test';
}

export interface Review extends Head {
  readonly server: Server;
  readonly hasKey: boolean;
  /** The usual one first. */
  readonly keeps: readonly Keep[];
  /** Trial of exactly these settings. */
  readonly trial: Trial | undefined;
  /** True to test an untested connection before it is kept. */
  readonly needsTest: boolean;
  readonly testsAtOnce: boolean;
  readonly test: (signal: AbortSignal) => Promise<Trial>;
}

/** A kept connection was tested; when the test fails, keeping it anyway comes last. */
export async function review(step: Review): Promise<Given<ReviewAction>> {
  const pick = vscode.window.createQuickPick<ReviewItem>();
  const { title, step: number, totalSteps } = step;
  Object.assign(pick, { title, step: number, totalSteps, placeholder: placeholderOf(step.server) });
  pick.matchOnDescription = true;
  let state: TestState = step.trial;
  const show = (next: TestState): void => {
    state = next;
    pick.busy = next === 'testing';
    pick.items = itemsOf(step, next);
    const active = activeOf(step, next);
    pick.activeItems = pick.items.filter(({ does }) => does !== undefined && does === active);
  };
  const controller = new AbortController();
  const test = async (onWorks: () => void): Promise<void> => {
    show('testing');
    const trial = await step.test(controller.signal);
    show(trial);
    if (trial.works) onWorks();
  };
  show(state);
  const given = await shown<ReviewAction>(pick, (give, fail) => {
    const begin = (onWorks: () => void): void => {
      test(onWorks).catch((error: unknown) => {
        // The person has left the dialog.
        if (!controller.signal.aborted) fail(error);
      });
    };
    const needsTest = (does: ReviewAction): boolean =>
      step.needsTest && state === undefined && step.keeps.some((keep) => keep.does === does);
    if (step.testsAtOnce) begin(() => undefined);
    return [
      pick.onDidAccept(() => {
        const does = pick.activeItems[0]?.does;
        if (does === undefined) return;
        if (does === 'test') {
          if (state !== 'testing') begin(() => undefined);
        } else if (needsTest(does)) begin(() => give(does));
        else give(does);
      }),
    ];
  });
  controller.abort();
  return given;
}

/** Undefined before the first test. */
type TestState = Trial | 'testing' | undefined;

/** Enter does the most likely thing. */
function activeOf({ keeps, server }: Review, state: TestState): ReviewItem['does'] {
  if (state === 'testing') return 'test';
  if (state === undefined || state.works) return keeps[0]?.does;
  return refusesSampling(server, state) ? 'sampling' : (blamed(state.problem) ?? 'test');
}

const refusesSampling = ({ sampling }: Server, state: TestState): boolean =>
  typeof state === 'object' && !state.works && state.problem === 'refused-request' && sampling !== undefined;

function itemsOf(step: Review, state: TestState): ReviewItem[] {
  const { server, hasKey, keeps, needsTest } = step;
  const { name, baseUrl, model } = server;
  const separator = (label: string): ReviewItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const test: ReviewItem[] = [{ ...trialItem(state), does: 'test' }, ...moreItems(state)];
  const parts: ReviewItem[] = [
    { label: t('Address'), description: baseUrl, does: 'baseUrl' },
    { label: t('Key'), description: hasKey ? t('kept in the secret storage') : t('none'), does: 'key' },
    { label: t('Model'), description: model, does: 'model' },
  ];
  const sampling: ReviewItem = {
    label: t('Sampling'),
    description: samplingWords(server.sampling ?? {}),
    does: 'sampling',
  };
  const mends = refusesSampling(server, state) ? [sampling, ...parts] : parts;
  const change: ReviewItem[] = [
    separator(t('Change')),
    { label: t('Name'), description: name, does: 'name' },
    ...(hasFailed(state) ? [] : parts),
    ...(mends.includes(sampling) ? [] : [sampling]),
    { label: t('Price'), description: priceWords(server), does: 'price' },
  ];
  const keep = keeps.map(({ label, does }, index) => ({
    label: `$(${index > 0 ? 'blank' : hasFailed(state) ? 'warning' : 'check'}) ${label}`,
    description: needsTest && state === undefined ? t('tested first') : undefined,
    does,
  }));
  if (state === 'testing') return [...test, ...change, separator(t('Without Waiting for the Test')), ...keep];
  if (!hasFailed(state)) return [...keep, ...test, ...change];
  return [...test, separator(t('Fix')), ...mends, ...change, separator(t('Connect Anyway')), ...keep];
}

const hasFailed = (state: TestState): boolean => typeof state === 'object' && !state.works;

function trialItem(trial: TestState): ReviewItem {
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

/** In as many rows as needed, because a row is one line and cuts off longer text. */
function moreItems(trial: TestState): ReviewItem[] {
  if (typeof trial !== 'object') return [];
  const sentences = trial.works ? trial.notes : [trial.remedy];
  return sentences
    .flatMap((sentence) => linesOf(sentence, ROW_CHARACTERS))
    .map((line) => ({ label: '$(blank)', description: line }));
}

const ROW_CHARACTERS = 76;

function placeholderOf({ model, baseUrl }: Server): string {
  return t('Review and connect {0} at {1}', model, baseUrl);
}

function priceWords({ price }: Server): string {
  return price === undefined
    ? t('none: no cost is shown')
    : t('${0} per million prompt tokens, ${1} per million completion tokens', price.prompt, price.completion);
}
