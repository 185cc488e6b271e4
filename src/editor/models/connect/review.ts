import * as vscode from 'vscode';
import { linesOf } from '../../../core/text';
import type { Trial } from '../../../core/model/connection';
import { shown, type Given, type Head, askText, runSteps, taking } from '../../inputSteps';
import type { Role } from '../../roles';
import type { Server } from '../../servers';
import { blamed } from './offers';
import { isWithin } from '../../../core/numberRange';
import { samplingEntries, type SamplingName } from '../../../core/samplingSettings';

const { t } = vscode.l10n;

/** A row that keeps the connection, and gives it a role. */
export interface Keep {
  readonly label: string;
  readonly as?: Role;
}

export type ReviewAction = Keep | 'name' | 'baseUrl' | 'key' | 'model' | 'sampling' | 'price';

interface ReviewItem extends vscode.QuickPickItem {
  readonly does?: ReviewAction | 'test';
}

interface Review extends Head {
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
  Object.assign(pick, {
    title,
    step: number,
    totalSteps,
    placeholder: t('Review and connect {0} at {1}', step.server.model, step.server.baseUrl),
  });
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
    if (step.testsAtOnce) begin(() => undefined);
    return [
      pick.onDidAccept(() => {
        const does = pick.activeItems[0]?.does;
        if (does === undefined) return;
        if (does === 'test') {
          if (state !== 'testing') begin(() => undefined);
        } else if (typeof does === 'object' && step.needsTest && state === undefined) begin(() => give(does));
        else give(does);
      }),
    ];
  });
  controller.abort();
  return given;
}
type TestState = Trial | 'testing' | undefined;

/** Enter does the most likely thing. */
function activeOf({ keeps, server }: Review, state: TestState): ReviewItem['does'] {
  if (state === 'testing') return 'test';
  if (state === undefined || state.works) return keeps[0];
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
  const keep = keeps.map((does, index) => ({
    label: `$(${index > 0 ? 'blank' : hasFailed(state) ? 'warning' : 'check'}) ${does.label}`,
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

function priceWords({ price }: Server): string {
  return price === undefined
    ? t('none: no cost is shown')
    : t('${0} per million prompt tokens, ${1} per million completion tokens', price.prompt, price.completion);
}

interface NumberField<Name extends string> {
  readonly name: Name;
  readonly prompt: string;
  readonly placeholder: string;
  readonly fits: (value: number) => boolean;
  readonly rule: string;
}

/** `inWords` stands in the list of a connection's settings. */
interface SamplingWords extends Pick<NumberField<SamplingName>, 'prompt' | 'placeholder' | 'rule'> {
  readonly inWords: (value: number) => string;
}

const SAMPLING: Readonly<Record<SamplingName, SamplingWords>> = {
  temperature: {
    prompt: t(
      'Temperature when it plays the agent; 0 always takes the most likely token. Empty: as in the settings.',
    ),
    placeholder: t('for example 0.7'),
    rule: t('A temperature is a number, 0 or more.'),
    inWords: (value) => t('temperature {0}', value),
  },
  topP: {
    prompt: t(
      'Top-p: sample from the most likely tokens that together have this probability. Empty: as in the settings.',
    ),
    placeholder: t('above 0, at most 1'),
    rule: t('Top-p is a number above 0 and at most 1.'),
    inWords: (value) => t('top-p {0}', value),
  },
  topK: {
    prompt: t(
      'Top-k: sample from this many of the most likely tokens, 0 from all. Empty: as in the settings.',
    ),
    placeholder: t('for example 40'),
    rule: t('Top-k is a whole number, 0 or more.'),
    inWords: (value) => t('top-k {0}', value),
  },
  minP: {
    prompt: t(
      'Min-p: sample from tokens that have at least this share of the most likely one’s probability, 0 from all. Empty: as in the settings.',
    ),
    placeholder: t('for example 0.05'),
    rule: t('Min-p is a number from 0 to 1.'),
    inWords: (value) => t('min-p {0}', value),
  },
  maxTokens: {
    prompt: t('Maximum tokens per message, including thoughts. Empty: as in the settings.'),
    placeholder: t('for example 4096'),
    rule: t('Enter a whole number of at least 1.'),
    inWords: (value) => t('at most {0} tokens', value),
  },
};

const SAMPLING_FIELDS: readonly NumberField<SamplingName>[] = samplingEntries.map(([name, setting]) => ({
  ...SAMPLING[name],
  name,
  fits: (value) => isWithin(value, setting),
}));

function samplingWords(sampling: NonNullable<Server['sampling']>): string {
  const words = samplingEntries.flatMap(([name]) => {
    const value = sampling[name];
    return value === undefined ? [] : [SAMPLING[name].inWords(value)];
  });
  return words.length === 0 ? t('as in the settings') : words.join(', ');
}

const isPrice = (value: number): boolean => value >= 0;
const PRICES = [
  {
    name: 'prompt',
    prompt: t('US dollars per million prompt tokens. Empty: no price is kept.'),
    placeholder: t('for example 0.15'),
    fits: isPrice,
    rule: t('A price is a number, 0 or more.'),
  },
  {
    name: 'completion',
    prompt: t('US dollars per million completion tokens. Empty: no price is kept.'),
    placeholder: t('for example 0.60'),
    fits: isPrice,
    rule: t('A price is a number, 0 or more.'),
  },
] as const satisfies NumberField<keyof NonNullable<Server['price']>>[];
export async function askSampling(now: Server['sampling']): Promise<Pick<Server, 'sampling'> | undefined> {
  const values = await askNumbers(t('Sampling'), SAMPLING_FIELDS, now ?? {});
  if (values === undefined) return undefined;
  return { sampling: Object.keys(values).length === 0 ? undefined : values };
}
export async function askPrice(now: Server['price']): Promise<Pick<Server, 'price'> | undefined> {
  const values = await askNumbers(t('Price'), PRICES, now ?? {});
  if (values === undefined) return undefined;
  const { prompt, completion } = values;
  return { price: prompt === undefined || completion === undefined ? undefined : { prompt, completion } };
}

async function askNumbers<Name extends string>(
  title: string,
  fields: readonly NumberField<Name>[],
  now: Partial<Record<Name, number>>,
): Promise<Partial<Record<Name, number>> | undefined> {
  const values = { ...now };
  const steps = fields.map(({ name, prompt, placeholder, fits, rule }) => {
    const validate = (text: string): string | undefined =>
      text.trim() === '' || fits(Number(text)) ? undefined : rule;
    return taking(
      (place) =>
        askText({ title, prompt, placeholder, value: values[name]?.toString() ?? '', validate, ...place }),
      (typed) => (values[name] = typed === '' ? undefined : Number(typed)),
    );
  });
  if (!(await runSteps(steps))) return undefined;
  const said = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as typeof values;
}
