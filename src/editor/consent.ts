import { randomInt } from 'node:crypto';
import * as z from 'zod';
import { lazily } from '../core/lazily';
import { consentLevels, type ConsentSignal } from '../core/trajectory/event';
import type { TrajectoryLog } from '../core/trajectory/log';
import { recordConsent } from '../core/trajectory/recordConsent';
import type { ConsentRequest } from '../../webview/session/protocol';
import { recall } from './recall';

const KEY = 'tandem.consent';
const whoSchema = lazily(() => z.object({ pseudonym: z.string().min(1), purpose: z.string().min(1) }));
const consentSchema = lazily(() => whoSchema().extend({ level: z.enum(consentLevels) }));
const givenSchema = lazily(() =>
  consentSchema().extend({
    /** Answers about single signals, asked after the consent; a signal without an answer is asked about again. */
    answers: z.record(z.string(), z.boolean()).readonly().optional(),
  }),
);

type GivenConsent = z.infer<ReturnType<typeof givenSchema>>;

export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** A person's consent: asked for once, and written into each log before anything that the person wrote. */
export class AskedConsent {
  private readonly fresh: ConsentRequest = {
    pseudonym: `developer-${randomInt(36 ** 3, 36 ** 4).toString(36)}`,
    purpose: 'Training and evaluation',
    level: 'local',
  };

  constructor(
    private readonly memory: Memory,
    private readonly log: () => Promise<TrajectoryLog>,
  ) {}

  /** Consent of this person; one from before there were levels counts as none, and is asked for again. */
  get given(): GivenConsent | undefined {
    return recall(this.memory, KEY, givenSchema);
  }

  get suggestion(): ConsentRequest {
    return { ...this.fresh, ...recall(this.memory, KEY, whoSchema) };
  }

  /**
   * A page may have been made to send it, and the log must be able to read it. The same person's answers about signals
   * stay.
   */
  async give(consent: ConsentRequest): Promise<void> {
    const { given } = this;
    const answers = given?.pseudonym === consent.pseudonym ? given.answers : undefined;
    await this.keep({ ...consentSchema().parse(consent), ...(answers && { answers }) });
  }

  /** The person's answer to whether the signal may be used; undefined if they were not asked, or not yet. */
  answerTo(signal: ConsentSignal): boolean | undefined {
    return this.given?.answers?.[signal];
  }

  async answer(signal: ConsentSignal, isAllowed: boolean): Promise<void> {
    const { given } = this;
    if (given !== undefined)
      await this.keep({ ...given, answers: { ...given.answers, [signal]: isAllowed } });
  }

  /** Writes the consent into a log that has another one or none, as when it was asked for in another folder. */
  async record(): Promise<void> {
    if (this.given !== undefined) await this.write(this.given);
  }

  /** Only into a log that has an earlier one of the same person; any other log gets it with a dialogue. */
  async recordAgain(): Promise<void> {
    const { given } = this;
    if (given !== undefined && (await this.log()).allowed.own(given.pseudonym) !== undefined) {
      await this.write(given);
    }
  }

  async forget(): Promise<void> {
    await this.memory.update(KEY, undefined);
  }

  private async keep(consent: GivenConsent): Promise<void> {
    await this.write(consent);
    await this.memory.update(KEY, consent);
  }

  private async write({ pseudonym, purpose, level, answers }: GivenConsent): Promise<void> {
    const signals = answers && Object.keys(answers).filter((signal) => answers[signal]);
    await recordConsent(await this.log(), { pseudonym, purpose, level, signals });
  }
}
