import type { Translate } from '../translate';

/** What is asked before a dialogue is ended by hand. */
export interface EndingQuestion {
  readonly question: string;
  readonly detail: string;
  readonly button: string;
}

/** @param isOwn of a developer's own function, which nothing tests */
export function endingQuestion(isOwn: boolean, t: Translate): EndingQuestion {
  const question = t("Take the agent's last message as its answer?");
  return isOwn
    ? {
        question,
        detail: t(
          'The dialogue ends here. The code in the message is shown as a change of your file, to accept or reject.',
        ),
        button: t('End and Review'),
      }
    : {
        question,
        detail: t('The dialogue ends here and the answer is graded.'),
        button: t('End and Grade'),
      };
}
