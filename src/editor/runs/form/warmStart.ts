import * as vscode from 'vscode';
import type { WarmStartView } from '../../../../webview/newRun/protocol';
import { grouped } from '../../../core/text';
import { METHODS, type MethodName } from '../../../core/training/methods';

const { t } = vscode.l10n;

interface WarmStartFacts {
  readonly method: MethodName;
  /** True when the model neither ships with Tandem nor was trained here. */
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
export function warmStartView({
  method,
  isForeign,
  played,
  won,
  successes,
  isSmall,
}: WarmStartFacts): WarmStartView | undefined {
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
