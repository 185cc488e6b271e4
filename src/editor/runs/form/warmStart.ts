import type { WarmStartView } from '../../../../webview/newRun/protocol';
import { grouped } from '../../../core/text';
import type { Translate } from '../../translate';
import { METHODS, type MethodName } from './words';

/** The choices and the log's counts that decide whether a model must be taught the protocol first. */
interface WarmStartFacts {
  readonly method: MethodName;
  /** True when the model neither ships with Tandem nor was trained here. */
  readonly isForeign: boolean;
  /** Number of its own finished dialogues in the log; `won` counts the successes among them. */
  readonly played: number;
  readonly won: number;
  /** Number of successes of any agent. */
  readonly successes: number;
  /** True when the model is trained whole, with settings that were found for imitation as well. */
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
/** More epochs than these, over few successes, would teach nothing but these successes. */
const MAX_EPOCHS = 10;

/**
 * Recommends rejection fine-tuning first for a model without a success of its own: it writes no answers yet, so that
 * there is nothing to rank. Undefined where that is not needed, or nothing could be imitated.
 */
export function warmStartView(
  { method, isForeign, played, won, successes, isSmall }: WarmStartFacts,
  t: Translate,
): WarmStartView | undefined {
  if (!isForeign || won > 0 || successes === 0) return undefined;
  if (METHODS[method].method === 'rft')
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

/** Returns the settings of an adapter that imitates, with enough epochs over these successes. */
const settings = (successes: number): Record<string, string> => ({
  'policy.learning_rate': RATE,
  'policy.epochs': String(Math.min(MAX_EPOCHS, Math.ceil((STEPS * BATCH) / successes))),
  'policy.max_steps': String(STEPS),
});
