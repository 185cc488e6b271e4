import * as vscode from 'vscode';
import { QUICK } from '../../../core/evaluation/loop/settings';
import type { Field, Limits } from '../../../core/training/fields';
import type { LeftOutReason } from '../../../core/trajectory/export/selection';
import { METHOD_NAMES, METHODS, playsTasks } from '../../../core/training/methods';
import type { MethodOption, Option } from '../../../../webview/newRun/protocol';
import { grouped } from '../../../core/text';
import { fromSchema } from '../../translate';
import { methodTitle } from '../../words';

const { t } = vscode.l10n;

export function wantedWords(field: Field): string {
  const others = [
    ...(field.or?.includes(null) === true ? [t('Or leave it empty.')] : []),
    ...(field.or?.includes('auto') === true ? [t('Or auto.')] : []),
  ];
  switch (field.kind) {
    case 'whole':
      return [`${limited(t('Enter a whole number'), field)}.`, ...others].join(' ');
    case 'number':
      return [`${limited(t('Enter a number'), field)}.`, ...others].join(' ');
    default:
      return t('Choose one from the list.');
  }
}

function limited(what: string, { low, high, withoutLow, withoutHigh }: Limits): string {
  if (low === undefined) return what;
  const from = withoutLow === true ? t('{0} above {1}', what, low) : t('{0} of at least {1}', what, low);
  if (high === undefined) return from;
  return withoutHigh === true ? t('{0} and below {1}', from, high) : t('{0} and at most {1}', from, high);
}

/** @param copied name of the duplicated run */
export function recommendationWords({
  isSmall,
  ships,
  copied,
}: {
  readonly isSmall: boolean;
  readonly ships: boolean;
  readonly copied: string | undefined;
}): string {
  if (copied !== undefined) return t('As in {0}', copied);
  const { trainTasks, rollouts } = QUICK;
  if (ships)
    return t(
      'Recommended for the starter model: measured to make it better with {0} dialogues',
      grouped(trainTasks * rollouts),
    );
  return isSmall
    ? t('Recommended for small models: found with the starter model')
    : t('The trainer’s own settings, which are the paper’s');
}

export const methodOptions = (): MethodOption[] =>
  METHOD_NAMES.map((value) => ({
    ...{ value, label: methodTitle(value, t), plays: playsTasks(value) },
    detail: fromSchema(METHODS[value].description, t),
  }));

export function deviceOptions(): Option[] {
  return [
    { value: 'auto', label: t('Automatic') },
    { value: 'cuda', label: t('NVIDIA or AMD GPU') },
    { value: 'mps', label: t('Apple GPU') },
    { value: 'cpu', label: t('CPU') },
  ];
}

/** Names of the field stay as they are. */
export function choiceWord(value: string): string {
  switch (value) {
    case 'agent':
      return t('Agent');
    case 'collaborator':
      return t('Collaborator');
    case 'generator':
      return t('Generator');
    case 'verifier':
      return t('Verifier');
    case 'refiner':
      return t('Refiner');
    case 'lora':
      return t('LoRA adapters');
    case 'qlora':
      return t('QLoRA (4-bit weights)');
    case 'full':
      return t('All weights');
    case 'paper':
      return t('As in the paper');
    case 'reference-code':
      return t('As in its code');
    case 'successes':
      return t('Each success');
    case 'all':
      return t('All pairs');
    case 'fixed':
      return t('Tandem’s own');
    case 'tests':
      return t('Fraction of tests passed');
    case 'success':
      return t('All tests passed');
    case 'log-ratio':
      return t('Log-ratio');
    case 'value-head':
      return t('Value head');
    case 'untrained':
      return t('Untrained');
    case 'answer-now':
      return t('Forced answers');
    case 'monte-carlo':
      return t('Rollouts');
    case 'preference':
      return t('Preference');
    case 'projection':
      return t('Projection');
    case 'true':
      return t('Yes');
    case 'false':
      return t('No');
    case 'auto':
      return t('Auto');
    case '':
      return t('None');
    case 'int8':
      return t('8 bits');
    case 'int4':
      return t('4 bits');
    case 'fp32':
      return t('Float32');
    default:
      return value;
  }
}

/** Follows a number: `2 gave the reference away`. */
export function leftOutWords(reason: string): string {
  const words: Readonly<Partial<Record<LeftOutReason, string>>> = {
    'outside the filter': t('outside the filter'),
    'not finished': t('not finished'),
    abandoned: t('abandoned or skipped'),
    deleted: t('deleted'),
    'played in an evaluation': t('reserved for evaluation'),
    leaked: t('in which a reply gave the reference away'),
    'to be redone': t('marked for redo in a review'),
    'not graded': t('without a grade'),
    'below the minimum reward': t('below the minimum reward'),
    damaged: t('damaged in the log'),
    'with an empty message of the agent': t('with an empty message of the agent'),
    doubtful: t('possibly deleted or marked as leaks (the log is damaged)'),
    'no consent': t('without the developer’s consent'),
    'model terms': t('written by models whose terms forbid training on it'),
    'of another measure': t('graded by another measure'),
    'drawn by another renderer': t('drawn by another renderer'),
    'without a reply to learn from': t('without a reply to learn from'),
    'without an edited suggestion': t('without an edited suggestion'),
    'outside of a search tree': t('outside of a search tree'),
    'in a search tree without a pair of this role': t('in a search tree without a pair of this role'),
  };
  // The trainer has reasons of its own.
  return (words as Readonly<Record<string, string | undefined>>)[reason] ?? reason;
}
