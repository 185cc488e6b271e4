import type { PageReader } from '../page/outline';
import { isProgram, programOf, type PageTask, type Task } from '../task/task';
import type { Shown } from '../trajectory/event';
import type { Turn } from '../trajectory/trajectory';
import { Fault } from '../fault';
import {
  type GenerateOptions,
  type Model,
  type ModelCounts,
  type Usage,
  maySee,
  type Generation,
  type SamplingSettings,
} from '../model/model';
import { simulatorMessages } from './conversation';
import type { Prompts } from './prompts';
import { parseAgentMessage, type Protocol } from './protocol';
import { answerByDifferences, type PageRulesPosition, bothPages } from './pageRules';
import { answerByRules } from './rules';
import { GrowingText, Search, type TextRange } from '../growingText';
import { Thinking } from './agentMessage';
import { createHash } from 'node:crypto';
import {
  IDLE_TOPICS,
  idleQuestions,
  KINDS,
  questionsAbout,
  starterTasks,
  VAGUE_QUESTIONS,
} from '../task/starter/world';
import { outlineInWords } from '../page/outlineWords';

export interface DialogueView {
  readonly task: Task;
  /** At least one; the last has no reply yet. */
  readonly turns: readonly Turn[];
  readonly protocol: Protocol;
  readonly seed: number;
  /** Absent where pages cannot be played. */
  readonly pages?: PageReader;
}

export interface SimulatedReply {
  /** Not yet cut to the reply limit; a model is stopped shortly after it. */
  readonly text: string;
  readonly usage?: Usage;
  /** What of a page it read. */
  readonly shown?: Shown;
  readonly pictures?: ShownPictures;
  /** The dialogue is over, and the text says why. */
  readonly endsDialogue?: true;
}

/** Plays the collaborator: an LLM that sees the hidden information or a specification, or rules over the task's facts. */
export interface Simulator {
  readonly kind: 'simulator' | 'rules';
  readonly name: string;
  /** The party with terms that bind the replies, as for a model. */
  readonly terms?: string;
  /** Changes with everything besides the name that decides the replies, as for a model. */
  readonly fingerprint?: string;
  /** It plays a task by its specification, if it has no facts, and not by its hidden information. */
  readonly readsSpecification?: true;
  /** Content hash by file name of prompts that take the place of `simulator.md`. */
  readonly promptVersions?: Readonly<Record<string, string>>;
  /** Absent for a simulator that costs nothing. */
  readonly counts?: ModelCounts;
  /** Holds one sentence for each thing that it turned out not to give, as for a model. */
  readonly notes?: readonly string[];
  /** @throws {Fault} `dialogue/empty-simulation` when it says nothing, and what its model throws */
  reply(view: DialogueView, options?: GenerateOptions): Promise<SimulatedReply>;
  close?(): Promise<void>;
}

const MAX_TOKENS = 512;

/**
 * Characters beyond the reply limit after which a simulator is stopped. Within this margin most end by themselves, and
 * then the server counts their tokens.
 */
const BEYOND_LIMIT = 100;

/** @returns what a simulator's text says to the agent: without thoughts and label; may be empty */
export function replyIn(written: string): string {
  const reading = new SimulatorReading();
  reading.push(written);
  return reading.whole;
}

function spoken({ onText, onRestart }: GenerateOptions, { replyLimit }: Protocol): GenerateOptions {
  let reading = new SimulatorReading();
  let characters = 0;
  return {
    onText(piece) {
      const more = reading.push(piece);
      characters += Array.from(more).length;
      if (more !== '') onText?.(more);
    },
    onRestart(why, attempt) {
      reading = new SimulatorReading();
      characters = 0;
      onRestart?.(why, attempt);
    },
    enough: () => characters > replyLimit + BEYOND_LIMIT,
  };
}

/** What a model is asked, or what is replied without one. */
export type SimulatorRequest =
  (Pick<SimulatedReply, 'shown' | 'pictures'> & Pick<PageRequest, 'generate'>) | { readonly text: string };

export class ModelSimulator implements Simulator {
  readonly kind = 'simulator';

  constructor(
    protected readonly model: Model,
    protected readonly prompts: Prompts,
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
    const asked = await this.request(view, options.signal);
    if ('text' in asked) return asked;
    const generation = await asked.generate(
      { temperature: 0, maxTokens: MAX_TOKENS, seed },
      {
        ...options,
        ...spoken(options, protocol),
        position: { description: task.description, turn: turns.length },
      },
    );
    const text = replyIn(generation.text);
    if (text === '') {
      const cause =
        generation.finishReason === 'length'
          ? `it spent its ${MAX_TOKENS} tokens on thoughts. Choose a model that thinks less, or turn its thinking off`
          : 'try again, choose another simulator, or reply yourself';
      throw new Fault(
        'dialogue/empty-simulation',
        `The simulator ${this.name} answered turn ${turns.length} of the task ${task.id} with nothing; ${cause}.`,
      );
    }
    const { shown, pictures } = asked;
    return { text, usage: generation.usage, shown, pictures };
  }

  protected async request(view: DialogueView, signal?: AbortSignal): Promise<SimulatorRequest> {
    const { model, prompts } = this;
    const { task, turns, protocol, pages } = view;
    if (!isProgram(task) && pages !== undefined)
      return pageRequest(pagePosition(task, view), { model, prompts, pages, signal });
    const messages = simulatorMessages(task, turns, protocol, prompts);
    return { generate: (...options) => model.generate(messages, ...options) };
  }

  async close(): Promise<void> {
    await this.model.close?.();
  }
}

/** The rule-based simulator over `facts`, or over the differences of two pages: free, instant, and the same for the same seed. */
export class RulesSimulator implements Simulator {
  readonly kind = 'rules';
  readonly name = 'rules';

  /** Changes with the rules, so that dialogues under other rules form another collection. */
  get fingerprint(): string {
    return rulesFingerprint();
  }

  async reply(view: DialogueView): Promise<SimulatedReply> {
    const { task, turns, pages } = view;
    if (isProgram(task) || pages === undefined) {
      const { visible } = parseAgentMessage(turns.at(-1)!.agent.text);
      return { text: answerByRules(programOf(task), visible, positionOf(view)) };
    }
    const { text, comparedPages } = await answerByDifferences(pagePosition(task, view), pages);
    return { text, ...(comparedPages && { shown: 'differences' as const }) };
  }
}

const positionOf = ({ turns, seed, protocol }: DialogueView) => ({
  history: turns.flatMap(({ reply }) => (reply === undefined ? [] : [reply.text])),
  seed,
  replyLimit: protocol.replyLimit,
});

const pagePosition = ({ reference, checks }: PageTask, view: DialogueView): PageRulesPosition => ({
  ...positionOf(view),
  wanted: reference,
  checks,
  message: view.turns.at(-1)!.agent.text,
});

/** The transcript calls the collaborator "You", and some models begin their reply with such a label. */
const LABEL = /^[*_]{0,9}(?:You|Reply|Your reply)[*_]{0,9}:[*_]{0,9}/i;
const MAX_LABEL_CHARS = 50;

/**
 * Extracts what a simulator says to the agent, while its text arrives. Nothing comes before the first word is complete.
 */
export class SimulatorReading {
  private readonly text = new GrowingText();
  private readonly thinking = new Thinking();
  /** Matches once the first word is complete: something follows it, or it can no longer be a label or a tag. */
  private readonly word = new Search(/[>:]|\S\s/, 2, 0);
  private first = new Search(/\S/, 1, 0);
  private unlabelled: { readonly from: number; readonly first: Search } | undefined;
  private end = 0;
  private told: TextRange | undefined;

  /** @returns the text that can be passed on now; empty when the text differs from what was passed on before */
  push(piece: string): string {
    const length = piece.trimEnd().length;
    if (length > 0) this.end = this.text.length + length;
    this.text.push(piece);
    if (this.thinking.read(this.text)) this.first = new Search(/\S/, 1, this.thinking.start);
    const now = this.word.in(this.text) === undefined ? undefined : this.said;
    if (now === undefined) return '';
    const { told, text } = this;
    this.told = now;
    if (told === undefined) return text.slice(now.start, now.end);
    const grown = now.end - now.start - (told.end - told.start);
    if (grown <= 0) return '';
    const isSame =
      now.start === told.start || text.slice(now.start, now.end - grown) === text.slice(told.start, told.end);
    return isSame ? text.slice(now.end - grown, now.end) : '';
  }

  get whole(): string {
    const { said } = this;
    return said === undefined ? '' : this.text.slice(said.start, said.end);
  }

  private get said(): TextRange | undefined {
    const { text } = this;
    const begun = this.thinking.isUnfinished ? undefined : this.first.in(text)?.start;
    if (begun === undefined) return undefined;
    const [label = ''] = LABEL.exec(text.slice(begun, begun + MAX_LABEL_CHARS)) ?? [];
    const from = begun + label.length;
    if (this.unlabelled?.from !== from) this.unlabelled = { from, first: new Search(/\S/, 1, from) };
    const start = this.unlabelled.first.in(text)?.start;
    return start !== undefined && start < this.end ? { start, end: this.end } : undefined;
  }
}

/** Number of tasks in the digest: enough for every domain and form, yet computed in a fraction of a second. */
const TASKS = 24;

let known: string | undefined;

/**
 * Digest of the rules' replies to every wording of the starter world, on some of its tasks. It changes with the
 * replies, so that no version number has to be kept in step by hand.
 */
function rulesFingerprint(): string {
  return (known ??= replies());
}

function replies(): string {
  const hash = createHash('sha256');
  const tasks = starterTasks({ split: 'train', seed: 0, difficulty: 'standard' });
  for (let seed = 0; seed < TASKS; seed++) {
    const drawn = tasks.next().value;
    const questions = [
      ...KINDS.flatMap((kind) => questionsAbout(drawn, kind)),
      ...IDLE_TOPICS.flatMap((topic) => idleQuestions(drawn, topic)),
      ...VAGUE_QUESTIONS,
      'Could you send me your code?',
      'I see.',
    ];
    const history: string[] = [];
    for (const question of questions) {
      history.push(answerByRules(drawn.task, question, { history: history.slice(-4), seed }));
    }
    hash.update(JSON.stringify(history));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Pictures of a draft and of the wanted page that a simulator was shown. */
export interface ShownPictures {
  /** PNG. */
  readonly draft: Buffer;
  readonly wanted: Buffer;
  /** Names what drew them. */
  readonly renderer: string;
}

export interface PageRequest {
  readonly shown: Shown;
  readonly pictures?: ShownPictures;
  readonly generate: (sampling: SamplingSettings, options: GenerateOptions) => Promise<Generation>;
}

/**
 * What a model is asked about a draft, as in ColBench: an instruction, the draft and the wanted page, and neither the
 * description nor the dialogue. A model that sees gets pictures, another one the outlines in words.
 *
 * @returns what is replied to a message without a page in place of a request
 * @throws {Fault} as `PageReader` and `SeeingModel.sees`
 */
export async function pageRequest(
  position: PageRulesPosition,
  {
    model,
    prompts,
    pages,
    signal,
  }: { model: Model; prompts: Prompts; pages: PageReader; signal?: AbortSignal },
): Promise<PageRequest | { readonly text: string }> {
  const { replyLimit } = position;
  if (pages.pictureOf !== undefined && maySee(model) && (await model.sees(signal))) {
    const pictures = await bothPages(position, (html) => pages.pictureOf!(html));
    if ('text' in pictures) return pictures;
    const content = prompts.renderParts('simulator-page.md', { ...pictures, replyLimit });
    return {
      shown: 'pictures',
      pictures: { ...pictures, renderer: await pages.name() },
      generate: (...options) => model.generate([{ role: 'user', content }], ...options),
    };
  }
  const outlines = await bothPages(position, async (html) => outlineInWords(await pages.outlineOf(html)));
  if ('text' in outlines) return outlines;
  const content = prompts.render('simulator-outline.md', { ...outlines, replyLimit });
  return {
    shown: 'outlines',
    generate: (...options) => model.generate([{ role: 'user', content }], ...options),
  };
}
