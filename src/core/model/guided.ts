import path from 'node:path';
import { MB, readTextSync } from '../regularFile';
import { withHiddenInformation } from './local/critic/hiddenInformation';
import type { LocalGeneration, LocalModel } from './local/model';
import type { ChatMessage, GenerateOptions, HiddenInformation, Model, SamplingSettings } from './model';

const MAX_PROMPT_BYTES = MB;

/**
 * A teacher: a local model that chooses what to ask by the hidden information, and writes everything else without it.
 * Students learn to ask likewise without seeing it (docs/methods.md).
 */
export class GuidedModel implements Model {
  readonly seesHidden = true;

  /**
   * @param name as on the command line
   * @param inner is closed with this model
   * @param prompts the folder of critic.md and critic-page.md
   */
  constructor(
    readonly name: string,
    private readonly inner: LocalModel,
    private readonly eta: number,
    private readonly prompts: string,
  ) {}

  get fingerprint(): string {
    return this.inner.fingerprint;
  }

  get counts() {
    return this.inner.counts;
  }

  get notes(): readonly string[] {
    return [
      ...this.inner.notes,
      `${this.name} chose its questions by the hidden information. It shows what a student can learn, and is no rival of agents that must ask.`,
    ];
  }

  async generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    { hidden, ...options }: GenerateOptions = {},
  ): Promise<LocalGeneration> {
    if (hidden === undefined) throw new Error(`${this.name} was asked without the hidden information.`);
    const guide = { prompt: this.told(messages, hidden), eta: this.eta };
    return { ...(await this.inner.generate(messages, sampling, { ...options, guide })), sawHidden: true };
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private told(messages: readonly ChatMessage[], { text, kind }: HiddenInformation): readonly ChatMessage[] {
    const file = path.join(this.prompts, kind === 'program' ? 'critic.md' : 'critic-page.md');
    return withHiddenInformation(messages, text, readTextSync(file, MAX_PROMPT_BYTES));
  }
}
