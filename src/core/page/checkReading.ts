import type { CheckResult } from './checks';
import { checkInWords } from './checkWords';
import type { ReadReply } from './claims';
import type { DraftReading, Mistake } from './draftReading';

/** By the checks of a task, without drawing. Two readings are of the same checks in the same order. */
export class CheckReading implements DraftReading {
  readonly mistakes: readonly Mistake[];

  constructor(readonly results: readonly CheckResult[]) {
    const failing = results.flatMap((result, index) =>
      result.passed ? [] : [{ sentence: checkInWords(result), aspect: String(index) }],
    );
    this.mistakes = [...Map.groupBy(failing, ({ sentence }) => sentence)].map(([sentence, of]) => ({
      sentence,
      aspects: of.map(({ aspect }) => aspect),
    }));
  }

  hasRight({ aspects }: Mistake): boolean {
    return aspects.every((index) => this.results[Number(index)]!.passed);
  }

  isWorseThan(before: this): boolean {
    return this.mistakes.some((mistake) =>
      mistake.aspects.some((index) => before.results[Number(index)]!.passed),
    );
  }

  /** Only sentences as the rules write them can be checked; how many others a reply has is not counted. */
  readReply(reply: string): ReadReply {
    const told = this.mistakes.filter(({ sentence }) => reply.includes(sentence));
    return {
      claims: told.map((mistake) => ({ sentence: mistake.sentence, isTrue: true, mistake })),
      unread: 0,
    };
  }
}
