import type { Agreement, Share } from '../../core/evaluation/agreement';
import type { HeldOut } from '../../core/training/credit/critics';
import type { Translate } from '../translate';

/** Only missing verdicts are mentioned, because they are given here. */
export function agreementWords({ verdicts, thumbs }: Agreement, t: Translate): string[] {
  return [
    verdictWords(verdicts, t),
    ...sentence(thumbs, (share) =>
      thumbs.of === 1
        ? t('agrees with the thumb in {0} of 1 turn ({1})', thumbs.agreed, share)
        : t('agrees with the thumb in {0} of {1} turns ({2})', thumbs.agreed, thumbs.of, share),
    ),
  ];
}

/** For example `held-out pair accuracy 78 %, untrained 55 %`. */
export function heldOutWords({ accuracy, untrained }: HeldOut, t: Translate): string {
  const [of, control] = [accuracy, untrained ?? 0].map((share) => Math.round(100 * share));
  return untrained === undefined
    ? t('held-out pair accuracy {0} %', of!)
    : t('held-out pair accuracy {0} %, untrained {1} %', of!, control!);
}

export function heldOutSentence({ accuracy, untrained, pairs }: HeldOut, t: Translate): string {
  const percent = (share: number): string => (100 * share).toFixed(1);
  const own = t(
    'Held-out pair accuracy: {0} % of {1}. A pair is correct when the better of two dialogues about a held-out task scores higher.',
    percent(accuracy),
    pairs,
  );
  return untrained === undefined ? own : `${own} ${t('Untrained baseline: {0} %.', percent(untrained))}`;
}

/** For example `people agree in 8 of 10 turns with a verdict (80 %, 49–94)`. */
export function verdictWords(verdicts: Share, t: Translate): string {
  const [words = t('not reviewed yet')] = sentence(verdicts, (share) =>
    verdicts.of === 1
      ? t('people agree in {0} of 1 turn with a verdict ({1})', verdicts.agreed, share)
      : t('people agree in {0} of {1} turns with a verdict ({2})', verdicts.agreed, verdicts.of, share),
  );
  return words;
}

function sentence({ rate, interval }: Share, words: (share: string) => string): string[] {
  if (rate === null) return [];
  const [low, middle, high] = [interval.low, rate, interval.high].map((part) => Math.round(100 * part));
  return [words(`${middle!} %, ${low!}–${high!}`)];
}
