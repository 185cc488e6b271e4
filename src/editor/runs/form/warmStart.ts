import type { WarmStartView } from '../../../../webview/newRun/protocol';
import { grouped } from '../../trajectories/words';
import type { Translate } from '../../translate';
import { METHODS, type MethodName } from './configuration';

/** Where a model has to be taught the protocol first: what is chosen, and what the log knows. */
export interface WarmStartFacts {
  readonly method: MethodName;
  /** Neither does it ship with Tandem, nor was it trained here. */
  readonly isForeign: boolean;
  /** Its own finished dialogues in the log, and those of them that are successes. */
  readonly played: number;
  readonly won: number;
  /** Successes of any agent. */
  readonly successes: number;
  /** It is trained whole, with settings that were found for imitation as well. */
  readonly isSmall: boolean;
}

/** Usual for adapters that imitate. The trainer's own rate is one for preferences, with which 30 steps teach no protocol. */
const RATE = '1e-4';

/**
 * That a model without a success of its own begins with rejection fine-tuning: it writes no answers yet, so that there is
 * nothing to rank. Undefined where it need not, or nothing could be imitated.
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
    values: { method: 'rft', agent: '', ...(!isSmall && { 'policy.learning_rate': RATE }) },
  };
}
