/**
 * The best way to find one of several equally likely things by yes-or-no questions, exactly: the decision tree with the
 * least expected number of questions.
 */
export class HalvingTree {
  /** Sum over the things of the questions that find them, by the things left. */
  private readonly known = new Map<string, number>();

  /** @param answers of each thing, to each question; all equally long, and no two the same */
  constructor(private readonly answers: readonly (readonly boolean[])[]) {
    if (new Set(answers.map(String)).size < answers.length)
      throw new Error('No question tells some of the things apart.');
  }

  /** All things, by their places in `answers`. */
  get all(): readonly number[] {
    return this.answers.map((_, thing) => thing);
  }

  /** Expected number of questions until nothing is left to find out, asked as well as possible. */
  fewest(left: readonly number[]): number {
    return left.length === 0 ? 0 : this.pathLength(left) / left.length;
  }

  /** Expected questions lost by asking this one next: 0 for a best one, 1 for one whose answer is known already. */
  regret(left: readonly number[], question: number): number {
    const { yes, no } = this.split(left, question);
    // Once nothing can be found out, any question is one too many.
    return 1 + (this.pathLength(yes) + this.pathLength(no) - this.pathLength(left)) / left.length;
  }

  /** Expected information of the answer in bits, at most 1. */
  bits(left: readonly number[], question: number): number {
    const share = this.split(left, question).yes.length / left.length;
    return [share, 1 - share].reduce((sum, p) => (p === 0 ? sum : sum - p * Math.log2(p)), 0);
  }

  /** What is left after an answer. */
  after(left: readonly number[], question: number, answer: boolean): readonly number[] {
    return left.filter((thing) => this.answers[thing]![question] === answer);
  }

  private split(left: readonly number[], question: number): Record<'yes' | 'no', readonly number[]> {
    return { yes: this.after(left, question, true), no: this.after(left, question, false) };
  }

  /** By branch and bound: a split is followed only when a Huffman tree over its two sides would beat the best so far. */
  private pathLength(left: readonly number[]): number {
    if (left.length < 2) return 0;
    const key = left.join();
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const splits = this.answers[0]!.map((_, question) => this.split(left, question))
      .filter(({ yes, no }) => yes.length > 0 && no.length > 0)
      .map(({ yes, no }) => ({ yes, no, bound: left.length + huffman(yes.length) + huffman(no.length) }))
      .toSorted((a, b) => a.bound - b.bound);
    let best = Infinity;
    for (const { yes, no, bound } of splits) {
      if (bound >= best) break;
      best = Math.min(best, left.length + this.pathLength(yes) + this.pathLength(no));
    }
    this.known.set(key, best);
    return best;
  }
}

/** Least sum of depths of a binary tree's leaves; no questions can do better. */
function huffman(leaves: number): number {
  if (leaves < 2) return 0;
  const depth = Math.floor(Math.log2(leaves));
  return leaves * depth + 2 * (leaves - 2 ** depth);
}
