import type * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import type { Memory } from '../consent';
import { proposalSchema, type Proposal } from '../ownFunctions';
import { recall } from '../recall';

const KEY = 'tandem.acceptedAnswers';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const acceptedSchema = lazily(() =>
  z.object({
    proposal: proposalSchema(),
    at: z.number(),
    /** True once it was measured within the first day. */
    isMeasured: z.boolean().optional(),
  }),
);

type Accepted = z.infer<ReturnType<typeof acceptedSchema>>;

/** An accepted answer whose survival is to be measured now. */
export interface DueAnswer {
  readonly proposal: Proposal;
  /** Milliseconds since it was accepted. */
  readonly age: number;
  /** Age from which this measurement was due; one that is logged with at least this age makes it needless. */
  readonly due: number;
}

interface Measuring {
  /** Age at which an answer is measured first. */
  readonly firstMs: () => number;
  readonly measure: (answer: DueAnswer) => Promise<void>;
  readonly report: (error: unknown) => void;
  readonly now?: () => number;
}

/**
 * Remembers accepted answers in the editor until they were measured twice: first after some minutes, and at the first
 * occasion after a day.
 */
export class AcceptedAnswers implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;
  private readonly now: () => number;

  constructor(
    private readonly memory: Memory,
    private readonly measuring: Measuring,
  ) {
    this.now = measuring.now ?? Date.now;
    // Some answers may have been accepted before the window was reloaded.
    this.wait();
  }

  /** If an answer of the same dialogue was accepted before, only this one counts. */
  async add(proposal: Proposal): Promise<void> {
    const others = this.all.filter((one) => one.proposal.episode !== proposal.episode);
    await this.keep([...others, { proposal, at: this.now() }]);
  }

  async forget(isKept: (episode: string) => boolean): Promise<void> {
    await this.keep(this.all.filter(({ proposal: { episode } }) => episode !== undefined && isKept(episode)));
  }

  /** Measures the answers that are due. */
  async check(): Promise<void> {
    const now = this.now();
    const due = this.all.flatMap((one) => {
      const [age, dueAge] = [now - one.at, this.dueAge(one)];
      return age < dueAge ? [] : [{ one, proposal: one.proposal, age, due: dueAge }];
    });
    if (due.length === 0) {
      this.wait();
      return;
    }
    // Before they are measured, because the next check may begin meanwhile.
    await this.keep(
      this.all.flatMap((accepted) => {
        const measured = due.find(({ one }) => isSame(one, accepted));
        if (measured === undefined) return accepted;
        // One that is late enough is that after a day, too.
        return measured.age < DAY_MS && !accepted.isMeasured ? { ...accepted, isMeasured: true } : [];
      }),
    );
    for (const { proposal, age, due: dueAge } of due) {
      await this.measuring.measure({ proposal, age, due: dueAge }).catch(this.measuring.report);
    }
  }

  /** Waits anew, as after a change of the settings. */
  wait(): void {
    clearTimeout(this.timer);
    if (this.all.length === 0) return;
    const until = Math.min(...this.all.map((one) => one.at + this.dueAge(one))) - this.now();
    // A timer stands still while the machine sleeps.
    const pause = Math.min(Math.max(0, until), HOUR_MS);
    this.timer = setTimeout(() => void this.check().catch(this.measuring.report), pause);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private dueAge({ isMeasured = false }: Accepted): number {
    return isMeasured ? DAY_MS : this.measuring.firstMs();
  }

  private get all(): readonly Accepted[] {
    return recall(this.memory, KEY, () => z.array(acceptedSchema())) ?? [];
  }

  private async keep(accepted: readonly Accepted[]): Promise<void> {
    await this.memory.update(KEY, accepted);
    this.wait();
  }
}

const isSame = (one: Accepted, other: Accepted): boolean =>
  one.at === other.at && one.proposal.episode === other.proposal.episode;
