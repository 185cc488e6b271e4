import type { Plan } from '../../../core/training/checks';
import type { DataCounts } from '../../../core/training/data/countData';
import type { Shortage } from '../../../core/training/data/report';
import { grouped } from '../../../core/text';
import type { Translate } from '../../translate';
import { METHODS, type MethodName } from './words';

/**
 * Returns remarks on data that are too few for a better agent, with the remedy: on the log at once, on the rest with
 * the plan.
 */
export function remarksOf(
  counts: DataCounts | undefined,
  plan: Plan | undefined,
  method: MethodName,
  t: Translate,
): string[] {
  const ofLog = counts === undefined ? '' : dialoguesRemark(counts, t);
  const others = plan?.data.shortages.map((shortage) => shortageRemark(shortage, method, t)) ?? [];
  return [ofLog, ...others].filter((sentence) => sentence !== '');
}

/**
 * The trainer's constant of the same name (shortage.py): with 120 of the starter world no method gave a better agent.
 */
const MIN_DIALOGUES = 600;

function dialoguesRemark({ trajectories }: DataCounts, t: Translate): string {
  if (trajectories === 0 || trajectories >= MIN_DIALOGUES) return '';
  return t(
    'These {0} are too few to expect a better agent: where it was measured, 120 dialogues gave none, and {1} did. Generate tasks and collect {2} more, or let “Teach Agent…” do everything.',
    grouped(trajectories),
    grouped(MIN_DIALOGUES),
    grouped(MIN_DIALOGUES - trajectories),
  );
}

function shortageRemark({ kind, have, enough }: Shortage, method: MethodName, t: Translate): string {
  switch (kind) {
    case 'pairs': {
      const pairs = have === 1 ? t('1 pair') : t('{0} pairs', grouped(have));
      return METHODS[method].method === 'sweet-rl'
        ? t(
            'The critic would learn from {0}: a better agent was measured with {1}. Collect several dialogues of more tasks, or choose other pairs under “More settings”.',
            pairs,
            grouped(enough),
          )
        : t(
            'The agent would learn from {0}: a better agent was measured with {1}. Collect several dialogues of more tasks, or choose other pairs under “More settings”.',
            pairs,
            grouped(enough),
          );
    }
    case 'held_out_pairs': {
      const pairs = have === 1 ? t('1 pair is held out') : t('{0} pairs are held out', grouped(have));
      return t(
        '{0}: from {1} on, accuracy tells learning from chance. Collect dialogues of more tasks, or raise the held-out fraction.',
        pairs,
        grouped(enough),
      );
    }
    case 'successes': {
      const dialogues =
        have === 1 ? t('1 dialogue to imitate') : t('{0} dialogues to imitate', grouped(have));
      return t(
        '{0}: a better agent was measured with {1}. Collect more, of any agent.',
        dialogues,
        grouped(enough),
      );
    }
    case 'token_ids':
      return t(
        '{0} of {1} turns come without token ids: {2}',
        grouped(enough - have),
        grouped(enough),
        tokenisedWords(method, t),
      );
    case 'tokenizer':
      return t(
        '{0} of {1} turns have the token ids of another tokenizer than the model’s: {2}',
        grouped(enough - have),
        grouped(enough),
        tokenisedWords(method, t),
      );
    case 'dialogues':
      // The remark on the log says this already.
      return '';
  }
}

const tokenisedWords = (method: MethodName, t: Translate): string =>
  method === 'rft'
    ? t('their text is tokenized, which is how a warm start was measured.')
    : t(
        'their text is tokenized, perhaps into others than were sampled. Gains were measured with the ids of every turn; collect dialogues with this model on this machine.',
      );
