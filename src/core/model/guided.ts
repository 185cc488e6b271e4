import path from 'node:path';
import { MB, readTextSync } from '../regularFile';
import { withHiddenInformation } from './local/critic/criticFile';
import { LocalModel, type LocalGeneration, type LocalModelOptions } from './local/model';
import type { ChatMessage, GenerateOptions, HiddenInformation, SamplingSettings } from './model';

const MAX_PROMPT_BYTES = MB;

/**
 * A teacher: a local model that chooses what to ask by the hidden information, and writes everything else without it.
 * Students learn to ask likewise without seeing it (docs/methods.md).
 */
export class GuidedModel extends LocalModel {
  readonly seesHidden = true;

  /** @param prompts the folder of critic.md and critic-page.md */
  constructor(
    options: LocalModelOptions,
    private readonly eta: number,
    private readonly prompts: string,
  ) {
    super(options);
  }

  override get notes(): readonly string[] {
    return [
      ...super.notes,
      `${this.name} chose its questions by the hidden information. It shows what a student can learn, and is no rival of agents that must ask.`,
    ];
  }

  override forcesOpening(): Promise<boolean> {
    return Promise.resolve(false);
  }

  override async generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    { hidden, ...options }: GenerateOptions = {},
  ): Promise<LocalGeneration> {
    if (hidden === undefined) throw new Error(`${this.name} was asked without the hidden information.`);
    const guide = { prompt: this.told(messages, hidden), eta: this.eta };
    return { ...(await super.generate(messages, sampling, { ...options, guide })), sawHidden: true };
  }

  private told(messages: readonly ChatMessage[], { text, kind }: HiddenInformation): readonly ChatMessage[] {
    const file = path.join(this.prompts, kind === 'program' ? 'critic.md' : 'critic-page.md');
    return withHiddenInformation(messages, text, readTextSync(file, MAX_PROMPT_BYTES));
  }
}
