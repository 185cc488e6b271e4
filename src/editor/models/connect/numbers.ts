import * as vscode from 'vscode';
import { isWithin } from '../../../core/numberRange';
import { samplingEntries, type SamplingName } from '../../../core/samplingSettings';
import { askText, runSteps, taking } from '../../inputSteps';
import type { Server } from '../../server';

const { t } = vscode.l10n;

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

export function samplingWords(sampling: NonNullable<Server['sampling']>): string {
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

/** Undefined when the person cancelled. */
export async function askSampling(now: Server['sampling']): Promise<Pick<Server, 'sampling'> | undefined> {
  const values = await askNumbers(t('Sampling'), SAMPLING_FIELDS, now ?? {});
  if (values === undefined) return undefined;
  return { sampling: Object.keys(values).length === 0 ? undefined : values };
}

/** Undefined when the person cancelled. */
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
