import type { Task } from '../task/task';
import type { Turn } from '../trajectory/trajectory';
import type { GenerateOptions, Model, Usage } from '../model/model';
import { openModel, type OpenModelOptions } from '../model/spec';
import { simulatorMessages } from './conversation';
import type { Prompts } from './prompts';
import { parseAgentMessage, type Protocol } from './protocol';
import { answerByRules } from './rules';

/** What a simulator knows when it is asked for a reply. */
export interface DialogueView {
  readonly task: Task;
  /** At least one; the last has no reply yet. */
  readonly turns: readonly Turn[];
  readonly protocol: Protocol;
  readonly seed: number;
}

export interface SimulatedReply {
  /** Before the reply limit. */
  readonly text: string;
  readonly usage?: Usage;
}

/** Plays the collaborator: an LLM that sees the hidden information, or rules over the task's facts. */
export interface Simulator {
  readonly kind: 'simulator' | 'rules';
  readonly name: string;
  reply(view: DialogueView, options?: GenerateOptions): Promise<SimulatedReply>;
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

  async reply(view: DialogueView, options: GenerateOptions = {}): Promise<SimulatedReply> {
    const { task, turns, protocol, seed } = view;
    const generation = await this.model.generate(
      simulatorMessages(task, turns, protocol, this.prompts),
      { temperature: 0, maxTokens: 512, seed },
      { ...options, position: { description: task.description, turn: turns.length } },
    );
    return { text: generation.text, usage: generation.usage };
  }
}

/** The rule-based simulator over `facts`: free, instant, and the same for the same seed. */
export class RulesSimulator implements Simulator {
  readonly kind = 'rules';
  readonly name = 'rules';

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
