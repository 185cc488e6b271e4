import type { Task } from '../task/task';
import type { Turn } from '../trajectory/trajectory';
import { Fault } from '../fault';
import type { GenerateOptions, Model, ModelCounts, Usage } from '../model/model';
import { openModel, type OpenModelOptions } from '../model/spec';
import { simulatorMessages } from './conversation';
import type { Prompts } from './prompts';
import { parseAgentMessage, type Protocol } from './protocol';
import { answerByRules } from './rules';
import { rulesFingerprint } from './rulesFingerprint';
import { SimulatorReading } from './simulatorReading';

/** What a simulator knows when it is asked for a reply. */
export interface DialogueView {
  readonly task: Task;
  /** At least one; the last has no reply yet. */
  readonly turns: readonly Turn[];
  readonly protocol: Protocol;
  readonly seed: number;
}

export interface SimulatedReply {
  /** Before the reply limit; a model is stopped shortly after it. */
  readonly text: string;
  readonly usage?: Usage;
}

/** Plays the collaborator: an LLM that sees the hidden information, or rules over the task's facts. */
export interface Simulator {
  readonly kind: 'simulator' | 'rules';
  readonly name: string;
  /** As a model's: whose terms bind what it writes. */
  readonly terms?: string;
  /** As a model's: what besides the name decides what it says. */
  readonly fingerprint?: string;
  /** As a model's: what it has been asked for; absent for a simulator that costs nothing. */
  readonly counts?: ModelCounts;
  /** As a model's: one sentence for each thing that it turned out not to give. */
  readonly notes?: readonly string[];
  /** @throws {Fault} `dialogue/empty-simulation` when it says nothing, and what its model throws */
  reply(view: DialogueView, options?: GenerateOptions): Promise<SimulatedReply>;
  /** As a model's: ends what it runs on. */
  close?(): Promise<void>;
}

/** Most tokens that a simulated reply may have, thoughts included. */
const MOST_TOKENS = 512;

/**
 * Characters beyond the reply limit after which a simulator is stopped. One that ends its sentence within them ends by
 * itself, and its server counts its tokens.
 */
const BEYOND_LIMIT = 100;

/** What a simulator's text says to the agent. */
function said(text: string): string {
  const reading = new SimulatorReading();
  reading.push(text);
  return reading.whole;
}

/** Passes on the streamed text as far as it is said to the agent, and has enough shortly after the reply limit. */
function spoken({ onText, onRestart }: GenerateOptions, { replyLimit }: Protocol): GenerateOptions {
  let reading = new SimulatorReading();
  let characters = 0;
  return {
    onText(piece) {
      const more = reading.push(piece);
      characters += Array.from(more).length;
      if (more !== '') onText?.(more);
    },
    onRestart(why) {
      reading = new SimulatorReading();
      characters = 0;
      onRestart?.(why);
    },
    enough: () => characters > replyLimit + BEYOND_LIMIT,
  };
}

/** An LLM simulator, greedy as in ColBench. */
export class ModelSimulator implements Simulator {
  readonly kind = 'simulator';

  constructor(
    private readonly model: Model,
    private readonly prompts: Prompts,
  ) {}

  get name(): string {
    return this.model.name;
  }

  get terms(): string | undefined {
    return this.model.terms;
  }

  get fingerprint(): string | undefined {
    return this.model.fingerprint;
  }

  get counts(): ModelCounts | undefined {
    return this.model.counts;
  }

  get notes(): readonly string[] | undefined {
    return this.model.notes;
  }

  async reply(view: DialogueView, options: GenerateOptions = {}): Promise<SimulatedReply> {
    const { task, turns, protocol, seed } = view;
    const generation = await this.model.generate(
      simulatorMessages(task, turns, protocol, this.prompts),
      { temperature: 0, maxTokens: MOST_TOKENS, seed },
      {
        ...options,
        ...spoken(options, protocol),
        position: { description: task.description, turn: turns.length },
      },
    );
    const text = said(generation.text);
    if (text === '') {
      const cause =
        generation.finishReason === 'length'
          ? `it spent its ${MOST_TOKENS} tokens on thoughts. Choose a model that thinks less, or turn its thinking off`
          : 'try again, choose another simulator, or reply yourself';
      throw new Fault(
        'dialogue/empty-simulation',
        `The simulator ${this.name} answered turn ${turns.length} of the task ${task.id} with nothing; ${cause}.`,
      );
    }
    return { text, usage: generation.usage };
  }

  async close(): Promise<void> {
    await this.model.close?.();
  }
}

/** The rule-based simulator over `facts`: free, instant, and the same for the same seed. */
export class RulesSimulator implements Simulator {
  readonly kind = 'rules';
  readonly name = 'rules';

  /** Dialogues with other rules are another collection. */
  get fingerprint(): string {
    return rulesFingerprint();
  }

  reply(view: DialogueView): Promise<SimulatedReply> {
    const { task, turns, seed, protocol } = view;
    const message = parseAgentMessage(turns.at(-1)!.agent.text).visible;
    const history = turns.flatMap((turn) => (turn.reply === undefined ? [] : [turn.reply.text]));
    return Promise.resolve({
      text: answerByRules(task, message, { history, seed, replyLimit: protocol.replyLimit }),
    });
  }
}

/** The simulator of a name on the command line: `rules`, or a model that plays the collaborator. */
export function openSimulator(spec: string, prompts: Prompts, options: OpenModelOptions = {}): Simulator {
  return spec === 'rules' ? new RulesSimulator() : new ModelSimulator(openModel(spec, options), prompts);
}
