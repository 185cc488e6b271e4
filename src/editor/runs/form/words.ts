import * as vscode from 'vscode';
import { QUICK } from '../../../core/evaluation/loop/settings';
import type { Field, Limits } from '../../../core/training/fields';
import type { LeftOutReason } from '../../../core/trajectory/export/selection';
import { METHOD_NAMES, METHODS, playsTasks, type MethodName } from '../../../core/training/methods';
import type { MethodOption, Option, Values, WarmStartView } from '../../../../webview/newRun/protocol';
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
export function recommendationWords(isSmall: boolean, ships: boolean, copied?: string): string {
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

/** A method that does not train the collaborator is offered for one only while it is chosen. */
export const methodOptions = ({ role, method }: Values): MethodOption[] =>
  METHOD_NAMES.filter(
    (value) => role !== 'collaborator' || value === method || METHODS[value].collaborator !== 'none',
  ).map((value) => ({
    ...{ value, label: methodTitle(value, t), plays: playsTasks(value) },
    detail: role === 'collaborator' ? simulatorMethod(value) : fromSchema(METHODS[value].description, t),
  }));

/** The descriptions of the schema are of the agent. */
function simulatorMethod(method: MethodName): string {
  switch (METHODS[method].collaborator) {
    case 'replies':
      return t('The simulator imitates people’s replies.');
    case 'edits':
      return t('The simulator learns to prefer suggestions as people edited them.');
    case 'dialogues':
      return t(
        'The simulator plays new dialogues with an agent while it trains. Needs the Python package trl.',
      );
    case 'none':
      return t('It trains no simulator. Choose another method.');
  }
}

export function deviceOptions(): Option[] {
  return [
    { value: 'auto', label: t('Automatic') },
    { value: 'cuda', label: t('NVIDIA or AMD GPU') },
    { value: 'mps', label: t('Apple GPU') },
    { value: 'cpu', label: t('CPU') },
  ];
}

const choiceWords: Readonly<Record<string, string>> = {
  agent: t('Agent'),
  collaborator: t('Collaborator'),
  generator: t('Generator'),
  verifier: t('Verifier'),
  refiner: t('Refiner'),
  lora: t('LoRA adapters'),
  qlora: t('QLoRA (4-bit weights)'),
  full: t('All weights'),
  paper: t('As in the paper'),
  'reference-code': t('As in its code'),
  successes: t('Each success'),
  all: t('All pairs'),
  fixed: t('Tandem’s own'),
  tests: t('Fraction of tests passed'),
  success: t('All tests passed'),
  'log-ratio': t('Log-ratio'),
  'value-head': t('Value head'),
  untrained: t('Untrained'),
  'answer-now': t('Forced answers'),
  'monte-carlo': t('Rollouts'),
  preference: t('Preference'),
  projection: t('Projection'),
  true: t('Yes'),
  false: t('No'),
  auto: t('Auto'),
  '': t('None'),
  int8: t('8 bits'),
  int4: t('4 bits'),
  fp32: t('Float32'),
};

/** Names of the field stay as they are. */
export const choiceWord = (value: string): string => choiceWords[value] ?? value;

const leftOutReasons: Readonly<Partial<Record<LeftOutReason, string>>> = {
  'outside the filter': t('outside the filter'),
  'not finished': t('not finished'),
  abandoned: t('abandoned or skipped'),
  deleted: t('deleted'),
  'played in an evaluation': t('reserved for evaluation'),
  leaked: t('in which a reply gave the reference away'),
  'to be redone': t('marked for redo in a review'),
  'not graded': t('without a grade'),
  'recorded elsewhere, without tests': t('recorded by another program, without tests'),
  'about own code': t('about own code (Include dialogues about own code takes them)'),
  'about own code, which has no grade': t('about own code, which has no grade for this method'),
  'about own code that was not logged': t('about own code that was not logged'),
  'about own code, without consent to train on it': t('about own code, without consent to train on it'),
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
  'edits without a consent that names them': t('edits without a consent that names them'),
  'outcomes without a consent that names them': t('outcomes without a consent that names them'),
  'sharing turns with a better or earlier dialogue': t('sharing turns with a better or earlier dialogue'),
  'outside of a search tree': t('outside of a search tree'),
  'in a search tree without a pair of this role': t('in a search tree without a pair of this role'),
};

/** Follows a number: `2 gave the reference away`. The trainer has reasons of its own. */
export const leftOutWords = (reason: string): string =>
  (leftOutReasons as Readonly<Record<string, string | undefined>>)[reason] ?? reason;

interface WarmStartFacts {
  readonly method: MethodName;
  readonly isForeign: boolean;
  /** Its finished dialogues in the log; `won` counts the successes among them. */
  readonly played: number;
  readonly won: number;
  /** Successes of any agent. */
  readonly successes: number;
  /** True when the model is trained whole, with settings that suit imitation, too. */
  readonly isSmall: boolean;
}

/**
 * Learning rate of adapters that imitate, with which 30 steps taught the protocol; with 1e-4 they taught a third of it,
 * and the trainer's own is for preferences (docs/training.md).
 */
const RATE = '5e-4';
/** Number of steps that taught the protocol, and the examples of each; twelve steps taught none. */
const STEPS = 30;
const BATCH = 8;
/** More epochs would teach nothing but these few successes. */
const MAX_EPOCHS = 10;

/**
 * A model without a success writes no answers yet, so there is nothing to rank: it imitates first.
 * @returns undefined where that is not needed, or there is nothing to imitate
 */
export function warmStartView(facts: WarmStartFacts): WarmStartView | undefined {
  const { method, isForeign, played, won, successes, isSmall } = facts;
  if (!isForeign || won > 0 || successes === 0) return undefined;
  if (METHODS[method].learns_from === 'successes')
    return {
      sentence: t(
        'A warm start: the model learns how the conversation works from the successes of any agent. When the run is done, play with its result, and train that by SWEET-RL.',
      ),
      values: {},
    };
  const known =
    played === 0
      ? t('This model has no dialogue of its own in this log.')
      : t('None of this model’s own {0} dialogues is a success.', grouped(played));
  return {
    sentence: t(
      '{0} Begin with a warm start: rejection fine-tuning on the {1} successes of other agents teaches it to ask and to answer; then train its result by SWEET-RL.',
      known,
      grouped(successes),
    ),
    values: { method: 'rft', agent: '', ...(!isSmall && settings(successes)) },
  };
}

const settings = (successes: number): Record<string, string> => ({
  'policy.learning_rate': RATE,
  'policy.epochs': String(Math.min(MAX_EPOCHS, Math.ceil((STEPS * BATCH) / successes))),
  'policy.max_steps': String(STEPS),
});
