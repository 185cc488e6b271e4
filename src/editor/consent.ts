import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { TrajectoryLog } from '../core/trajectory/log';
import type { ConsentRequest } from '../../webview/session/protocol';
import type { ConsentKeeper } from './session/parts';

const KEY = 'tandem.consent';
const consentSchema = z.object({ pseudonym: z.string().min(1), purpose: z.string().min(1) });

/** Where the editor keeps small things for Tandem, across workspaces. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** Asked once for a person, and written into each log before anything of that person is. */
export class Consent implements ConsentKeeper {
  readonly suggestion: ConsentRequest = {
    pseudonym: `developer-${randomInt(36 ** 3, 36 ** 4).toString(36)}`,
    purpose: 'Training and evaluating collaborative agents',
  };

  constructor(
    private readonly memory: Memory,
    private readonly log: () => Promise<TrajectoryLog>,
  ) {}

  get given(): ConsentRequest | undefined {
    return consentSchema.safeParse(this.memory.get(KEY)).data;
  }

  async give(consent: ConsentRequest): Promise<void> {
    await this.write(consent);
    await this.memory.update(KEY, consent);
  }

  /** Writes the consent into a log that does not have it yet: one in another folder than where it was asked. */
  async record(): Promise<void> {
    if (this.given !== undefined) await this.write(this.given);
  }

  /** It is asked again before the next dialogue. */
  async forget(): Promise<void> {
    await this.memory.update(KEY, undefined);
  }

  private async write({ pseudonym, purpose }: ConsentRequest): Promise<void> {
    const log = await this.log();
    const known = log.consents.some((other) => other.pseudonym === pseudonym && other.purpose === purpose);
    if (!known) await log.append({ event: 'consent', pseudonym, purpose }, { durable: true });
  }
}
