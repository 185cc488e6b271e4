import { randomInt } from 'node:crypto';
import * as z from 'zod';
import { lazily } from '../core/lazily';
import { consentLevels } from '../core/trajectory/consent';
import type { TrajectoryLog } from '../core/trajectory/log';
import type { ConsentRequest } from '../../webview/session/protocol';
import { recall } from './memory';
import type { ConsentKeeper } from './session/parts';

const KEY = 'tandem.consent';
const whoSchema = lazily(() => z.object({ pseudonym: z.string().min(1), purpose: z.string().min(1) }));
const consentSchema = lazily(() => whoSchema().extend({ level: z.enum(consentLevels) }));

/** Where the editor keeps small things for Tandem, across workspaces. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** Asked once for a person, and written into each log before anything of that person is. */
export class Consent implements ConsentKeeper {
  private readonly fresh: ConsentRequest = {
    pseudonym: `developer-${randomInt(36 ** 3, 36 ** 4).toString(36)}`,
    purpose: 'Training and evaluating collaborative agents',
    level: 'local',
  };

  constructor(
    private readonly memory: Memory,
    private readonly log: () => Promise<TrajectoryLog>,
  ) {}

  /** One that was given before there were levels is asked for again. */
  get given(): ConsentRequest | undefined {
    return recall(this.memory, KEY, consentSchema);
  }

  get suggestion(): ConsentRequest {
    return { ...this.fresh, ...recall(this.memory, KEY, whoSchema) };
  }

  async give(consent: ConsentRequest): Promise<void> {
    await this.write(consent);
    await this.memory.update(KEY, consent);
  }

  /** Writes the consent into a log that has another one or none: one in another folder than where it was asked. */
  async record(): Promise<void> {
    if (this.given !== undefined) await this.write(this.given);
  }

  /** Writes the consent into a log that has an earlier one of the same person; any other gets it with a dialogue. */
  async recordAgain(): Promise<void> {
    const { given } = this;
    if (given !== undefined && (await this.log()).allowed.of(given.pseudonym) !== undefined) {
      await this.write(given);
    }
  }

  /** It is asked again before the next dialogue. */
  async forget(): Promise<void> {
    await this.memory.update(KEY, undefined);
  }

  private async write({ pseudonym, purpose, level }: ConsentRequest): Promise<void> {
    const log = await this.log();
    const latest = log.allowed.of(pseudonym);
    if (latest?.purpose === purpose && latest.level === level) return;
    await log.append({ event: 'consent', pseudonym, purpose, level }, { durable: true });
  }
}
