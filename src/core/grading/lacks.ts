import type { Gate } from './gate';
import type { GradingLimits } from './limits';
import { lacking, probeFor } from './modules';
import { plainOutcome } from './outcome';
import type { Runner } from './runner';

/** What the interpreter of a runner lacks, as a pristine one says; asked once for each runner and name. */
export class Lacks {
  private readonly known = new Map<string, Promise<boolean>>();

  constructor(
    private readonly gate: Gate,
    private readonly limits: GradingLimits,
  ) {}

  has(runner: Runner, name: string): Promise<boolean> {
    const key = `${runner.version} ${name}`;
    const known = this.known.get(key) ?? this.ask(runner, name);
    this.known.set(key, known);
    // What went wrong with the runner may go right the next time.
    known.catch(() => this.known.delete(key));
    return known;
  }

  private async ask(runner: Runner, name: string): Promise<boolean> {
    const job = {
      source: '',
      calls: [probeFor(name)],
      start: 0,
      mode: 'fixed',
      limitMilliseconds: this.limits.ceilingMilliseconds,
      seed: '0',
      own: [],
      imported: [],
    } as const;
    const { calls } = await this.gate.together(() => runner.run(job));
    return calls.some((reply) => lacking(plainOutcome(reply)) === name);
  }
}
