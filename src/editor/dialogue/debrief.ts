import type { Debrief, IgnoredNumber } from '../../core/dialogue/debrief';
import type { FailurePattern } from '../../core/grading/failurePatterns';
import { differencesOf } from '../../core/page/differences';
import { differenceInWords } from '../../core/page/outlineWords';
import type { PageReader } from '../../core/page/outline';
import type { PageTask } from '../../core/task/task';
import { inOneLine } from '../../core/text';
import type { DebriefLine } from '../../../webview/session/protocol';
import type { Translate } from '../translate';

const MAX_PATTERNS = 3;
const MAX_DIFFERENCES = 8;
const MAX_CALL_CHARS = 80;

/** @param own pseudonym of the person at this editor, who is called “you” */
export function debriefLines(
  { decided, unasked, ignored, patterns }: Debrief,
  { own, hasPassed, tests }: { own: string | undefined; hasPassed: boolean; tests: number },
  t: Translate,
): DebriefLine[] {
  const topics = unasked.join(', ');
  const unaskedWords = hasPassed
    ? t('Never asked, but the tests pass: {0}', topics)
    : t('Never asked: {0}', topics);
  return [
    ...(decided.length === unasked.length ? [] : [t('Decided by the task: {0}', decided.join(', '))]),
    ...(unasked.length === 0 ? [] : [unaskedWords]),
    ...ignoredWords(ignored, own, t),
  ]
    .map((text): DebriefLine => ({ text }))
    .concat(
      patterns.slice(0, MAX_PATTERNS).map((pattern) => ({
        text: t('{0} of {1} tests: {2}, as in', pattern.count, tests, patternWords(pattern, t)),
        call: shortened(inOneLine(pattern.call)),
      })),
    );
}

/**
 * What a person would still ask to be changed, most visible first, in English as the pages are compared.
 * @param answer HTML
 */
export async function pageDifferences(
  answer: string,
  { reference }: PageTask,
  pages: PageReader,
): Promise<readonly string[]> {
  const wanted = await pages.outlineOf(reference);
  return differencesOf(await pages.outlineOf(answer), wanted).map((difference) =>
    differenceInWords(difference, wanted),
  );
}

export function differenceLines(differences: readonly string[], t: Translate): DebriefLine[] {
  const left = differences.length - MAX_DIFFERENCES;
  return [
    ...differences.slice(0, MAX_DIFFERENCES).map((text) => ({ text })),
    ...(left > 0 ? [{ text: t('{0} smaller differences not shown', left) }] : []),
  ];
}

const shortened = (call: string): string =>
  call.length > MAX_CALL_CHARS ? `${call.slice(0, MAX_CALL_CHARS)}…` : call;

/** One sentence for each speaker. */
function ignoredWords(ignored: readonly IgnoredNumber[], own: string | undefined, t: Translate): string[] {
  const bySpeaker = Map.groupBy(ignored, ({ reply }) =>
    reply.author === 'simulator' ? undefined : reply.by,
  );
  return [...bySpeaker].map(([speaker, some]) => {
    const numbers = some
      .map(({ number, topic }) => (topic === undefined ? number : t('{0} ({1})', number, topic)))
      .join(', ');
    if (speaker === undefined) return t('The simulator said {0}: not in the code', numbers);
    return speaker === own
      ? t('You said {0}: not in the code', numbers)
      : t('{0} said {1}: not in the code', speaker, numbers);
  });
}

function patternWords(pattern: FailurePattern, t: Translate): string {
  switch (pattern.kind) {
    case 'empty':
      return t('only an empty input fails');
    case 'error':
      return pattern.type;
    case 'timed-out':
      return t('no result in time');
    case 'none':
      return t('the result is None');
    case 'type':
      return t('got {0}, expected {1}', pattern.got, pattern.expected);
    case 'maximum':
      return t('expected {0}, got more', pattern.value);
    case 'minimum':
      return t('expected {0}, got less', pattern.value);
    case 'sign':
      return t('the sign is wrong');
    case 'factor':
      return Math.abs(pattern.factor) > 1
        ? t('the result is {0} times the expected value', short(pattern.factor))
        : t('the expected value is {0} times the result', short(1 / pattern.factor));
    case 'difference':
      return pattern.difference > 0
        ? t('{0} too high', short(pattern.difference))
        : t('{0} too low', short(-pattern.difference));
    case 'fraction':
      return t('expected a whole number, got a fraction');
    case 'near':
      return t('off by less than {0}', pattern.below);
    case 'order':
      return t('right elements, wrong order');
    case 'case':
      return t('only upper and lower case differ');
    case 'spaces':
      return t('only spaces differ');
  }
}

const short = (value: number): string => String(Number(value.toPrecision(6)));
