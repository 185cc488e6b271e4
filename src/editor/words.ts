import type { WorldView } from '../../webview/teaching/protocol';
import type { ShippedModel } from '../core/model/shippedModels';
import type { World } from '../core/task/starter/splits';
import { grouped, withoutEnd } from '../core/text';
import { methodNamed } from '../core/training/methods';
import type { Run } from '../core/training/runs';
import { fromSchema, type Translate } from './translate';

export function methodTitle(method: string, t: Translate): string {
  const known = methodNamed(method);
  return known === undefined ? method : fromSchema(known.title, t);
}

export const methodWord = (method: string, t: Translate): string => lowerFirst(methodTitle(method, t));

/** Name of a lesson and of its run. */
export const lessonName = ({ number }: { readonly number: number }, t: Translate): string =>
  t('Lesson {0}', number);

/** Kinds of tasks to choose from. */
export const worldChoices = (worlds: readonly World[], t: Translate): WorldView[] => {
  const choices: Readonly<Record<World, Omit<WorldView, 'value'>>> = {
    functions: {
      label: t('Functions'),
      detail: t('The agent asks; the simulator alone knows what the function should do.'),
    },
    pages: {
      label: t('Web pages'),
      detail: t('The agent shows a page; the simulator says what should be different.'),
    },
    'twenty-questions': {
      label: t('Twenty questions'),
      detail: t('The agent asks what yes or no can answer, and finds out which figure is meant.'),
    },
  };
  return worlds.map((value) => ({ value, ...choices[value] }));
};

/** Title of a pack of generated tasks. */
export const worldTitle = (world: World, t: Translate): string =>
  ({
    functions: t('starter world'),
    pages: t('starter world of pages'),
    'twenty-questions': t('starter world of twenty questions'),
  })[world];

/** What a model that ships with Tandem can play; the first words tell such models apart where a list is narrow. */
export const shippedWords = (model: ShippedModel, t: Translate): string =>
  ({
    starter: t('Functions of the starter world; ships with Tandem, no server, no key'),
    'starter-pages': t('Web pages of the starter world; ships with Tandem, no server, no key'),
    'starter-questions': t('Twenty questions of the starter world; ships with Tandem, no server, no key'),
  })[model];

export const baseName = ({ base }: Pick<Run, 'base'>): string =>
  base.split(/[\\/]/).findLast((part) => part !== '') ?? base;

/** @param at ISO 8601 @param now milliseconds since 1970 */
export function ago(at: string, now: number, t: Translate): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  if (seconds < 60) return t('just now');
  if (seconds < 3600) return t('{0} min ago', Math.floor(seconds / 60));
  if (seconds < 86_400) return t('{0} h ago', Math.floor(seconds / 3600));
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? t('yesterday') : t('{0} days ago', days);
}

export const dialogues = (count: number, t: Translate): string =>
  count === 1 ? t('1 dialogue') : t('{0} dialogues', grouped(count));

/** Lets a sentence begin in lower case, as after a colon. A leading acronym stays as it is. */
export function lowerFirst(text: string): string {
  return /^\p{Lu}\p{Lu}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

/** Returns for example `12 kB`, `7.2 MB` or `1.5 GB`. */
export function bytesWords(bytes: number, t: Translate): string {
  if (bytes < 1e5) return t('{0} kB', Math.ceil(bytes / 1e3));
  if (bytes < 1e9) return t('{0} MB', (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0));
  return t('{0} GB', (bytes / 1e9).toFixed(1));
}

/** Returns for example `40 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(exact: number, t: Translate): string {
  const seconds = Math.round(exact);
  if (seconds < 60) return t('{0} s', seconds);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? t('{0} min {1} s', minutes, seconds % 60)
    : t('{0} h {1} min', Math.floor(minutes / 60), minutes % 60);
}

/** Returns for example `<1 s`, `40 s`, `12 min`, `2 h 5 min`. */
export function roughly(seconds: number, t: Translate): string {
  if (seconds < 1) return t('<1 s');
  if (seconds < 120 || seconds >= 3600) return duration(seconds, t);
  return t('{0} min', Math.round(seconds / 60));
}

/** Below a cent, enough digits to compare such sums. */
export function dollars(sum: number): string {
  return `$${sum === 0 || sum >= 0.01 ? sum.toFixed(2) : withoutEnd(sum.toFixed(6), '0')}`;
}

/** For names that others wrote: the editor draws `[text](address)` as a link, and an address may be a command. */
export const withoutLinks = (text: string): string => text.replaceAll('](', '] (');

/** English dates begin with the day, as in other languages: `8 Mar 2026`. */
export const dates = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, options);
