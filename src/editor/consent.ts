import { randomInt } from 'node:crypto';
import * as z from 'zod';
import { lazily } from '../core/lazily';
import { consentLevels } from '../core/trajectory/event';
import type { TrajectoryLog } from '../core/trajectory/log';
import type { ConsentRequest } from '../../webview/session/protocol';
import { recall } from './recall';

const KEY = 'tandem.consent';
const whoSchema = lazily(() => z.object({ pseudonym: z.string().min(1), purpose: z.string().min(1) }));
const consentSchema = lazily(() => whoSchema().extend({ level: z.enum(consentLevels) }));

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
  get given(): ConsentRequest | undefined {
    return recall(this.memory, KEY, consentSchema);
  }

  get suggestion(): ConsentRequest {
    return { ...this.fresh, ...recall(this.memory, KEY, whoSchema) };
  }

  /** A page may have been made to send it, and the log must be able to read it. */
  async give(consent: ConsentRequest): Promise<void> {
    await this.write(consentSchema().parse(consent));
    await this.memory.update(KEY, consent);
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

  private async write({ pseudonym, purpose, level }: ConsentRequest): Promise<void> {
    const log = await this.log();
    const latest = log.allowed.own(pseudonym);
    const isSame = latest?.purpose === purpose && latest.level === level;
    if (isSame && !log.allowed.isDoubtful(latest)) return;
    await log.append({ event: 'consent', pseudonym, purpose, level }, { durable: true });
  }
}
