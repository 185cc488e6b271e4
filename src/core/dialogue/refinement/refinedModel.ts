import type { AnswerRunner } from '../../grading/grader';
import {
  sumOfCounts,
  sumOfUsage,
  type ChatMessage,
  type GenerateOptions,
  type Generation,
  type Model,
  type ModelCounts,
  type SamplingSettings,
  type Selection,
  type VerifierOutput,
} from '../../model/model';
import { requestedName } from '../../task/signature';
import { ANSWER_OPENINGS } from '../markers';
import { parseAgentMessage } from '../protocol';
import { deriveSeed } from '../../seed';
import {
  callInWords,
  choiceIn,
  choiceRequest,
  clarifyingQuestion,
  isAskedIn,
  questionRequest,
  questionsAbout,
} from './clarification';
import { compareDrafts, type Comparison, type Disagreement } from './compareDrafts';
import { refineSpec } from './refineSpec';

/** In one dialogue; people are not asked without end about what a model cannot make up its mind on. */
const MAX_QUESTIONS = 2;

/** Where messages are greedy, further drafts are not, because they would be equal. */
const DRAFT_TEMPERATURE = 1;

export interface RefinedRoles {
  readonly generator: Model;
  readonly verifier?: Model;
  /** Without one the generator goes on, and its next answer is verified again. */
  readonly refiner?: Model;
}

/** A message that is sampled, and the draft in it. */
interface Draft {
  readonly generation: Generation;
  readonly answer: string;
}

/**
 * A generator that is verified before it answers (MALT, arXiv 2412.01928): drafts of the answer run against each other,
 * and where they differ the agent asks (ClarifyGPT, arXiv 2310.10996), or gives the answer of most drafts. A refiner
 * says the rest of the dialogue after that question.
 */
export class RefinedModel implements Model {
  #asked = 0;
  #answered = 0;
  #unread = 0;

  /**
   * @param name as on the command line
   * @param roles are closed with this one
   * @param drafts 1: the generator plays alone
   * @param verifierTemperature above 0 where several outputs of the verifier are compared
   */
  constructor(
    readonly name: string,
    private readonly roles: RefinedRoles,
    private readonly drafts: number,
    private readonly runner: () => AnswerRunner | Promise<AnswerRunner>,
    private readonly verifierTemperature = 0,
  ) {}

  get terms(): string | undefined {
    return this.#members.find(({ terms }) => terms !== undefined)?.terms;
  }

  /** A teacher does, and then its drafts are a teacher's too. */
  get seesHidden(): true | undefined {
    return this.roles.generator.seesHidden;
  }

  get fingerprint(): string {
    return this.#members.map(({ name, fingerprint = name }) => fingerprint).join(', ');
  }

  get counts(): ModelCounts {
    return sumOfCounts(this.#members.flatMap(({ counts }) => counts ?? []));
  }

  get notes(): readonly string[] {
    const notes = this.#members.flatMap(({ notes }) => notes ?? []);
    if (this.#asked + this.#answered > 0)
      notes.push(
        `${this.name}: of ${this.#asked + this.#answered} answers, ${this.#asked} became a question because drafts differed.`,
      );
    if (this.#unread > 0)
      notes.push(
        `${this.name}: ${this.#unread} choices of the verifier named no draft, and the answer of most drafts was given.`,
      );
    return notes;
  }

  async forcesOpening(signal?: AbortSignal): Promise<boolean> {
    return (await this.roles.generator.forcesOpening?.(signal)) ?? false;
  }

  async generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    options: GenerateOptions = {},
  ): Promise<Generation> {
    const started = performance.now();
    const { generator, refiner } = this.roles;
    if (this.drafts === 1) return named(await generator.generate(messages, sampling, options), generator);
    const { description = '' } = options.position ?? {};
    const name = requestedName(description);
    if (refiner !== undefined && name !== undefined && questionsAbout(name, messages) > 0)
      return named(await refiner.generate(messages, sampling, options), refiner);
    // Nothing is shown before it is known whether the message is said.
    const { onText, drafts, ...silent } = options;
    const given = drafts?.map(asGenerated);
    const first = given?.[0] ?? (await generator.generate(messages, sampling, silent));
    let said = first;
    if (name !== undefined && parseAgentMessage(first.text).answer !== undefined) {
      const turn = { name, description, messages, sampling, options: silent, started };
      said = await this.#verified(given ?? [first, ...(await this.#moreDrafts(turn))], turn);
    }
    onText?.(said.text);
    return named(said, generator);
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(async (one) => one.close?.()));
  }

  get #members(): readonly Model[] {
    const { generator, verifier, refiner } = this.roles;
    return [generator, verifier, refiner].filter((model) => model !== undefined);
  }

  async #verified(generations: readonly Generation[], turn: Turn): Promise<Generation> {
    const { name, messages, options } = turn;
    const drafts = generations.flatMap((generation): Draft[] => {
      const { answer } = parseAgentMessage(generation.text);
      return answer === undefined ? [] : [{ generation, answer }];
    });
    const comparison = await compareDrafts(
      drafts.map(({ answer }) => answer),
      turn,
      await this.runner(),
      (each) => isAskedIn(messages, each),
      options.signal,
    );
    options.signal?.throwIfAborted();
    const { disagreement } = comparison;
    const mayAsk =
      (options.position?.turnsLeft ?? 0) > 0 &&
      options.openings === undefined &&
      questionsAbout(name, messages) < MAX_QUESTIONS;
    const sampled = { generations, drafts };
    if (disagreement !== undefined && mayAsk) return this.#asking(disagreement, sampled, turn);
    return this.#answering(comparison, sampled, turn);
  }

  /** Where that can be forced, each is an answer, even if the model would rather ask. */
  async #moreDrafts({ messages, sampling, options }: Turn): Promise<readonly Generation[]> {
    const { seed, temperature } = sampling;
    const stop = new AbortController();
    const signal =
      options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    const openings = (await this.forcesOpening(signal)) ? ANSWER_OPENINGS : options.openings;
    const sample = (place: number): Promise<Generation> =>
      this.roles.generator.generate(
        messages,
        {
          ...sampling,
          temperature: temperature === 0 ? DRAFT_TEMPERATURE : temperature,
          seed: seed === undefined ? seed : deriveSeed(seed, 'draft', place),
        },
        { ...options, openings, signal },
      );
    try {
      return await Promise.all(Array.from({ length: this.drafts - 1 }, (_, at) => sample(at + 1)));
    } catch (error) {
      stop.abort();
      throw error;
    }
  }

  async #asking(disagreement: Disagreement, { generations }: Sampled, turn: Turn): Promise<Generation> {
    this.#asked++;
    const call = callInWords(disagreement);
    const asked = clarifyingQuestion(disagreement);
    const worded = await this.#askVerifier(questionRequest(turn.description, asked), turn);
    const words = worded === undefined ? asked : spokenIn(worded);
    // Later turns find in the question what was asked.
    const question = words.includes(call) ? words : `About ${call}: ${words}`;
    return {
      text: `OUTPUT:\n${question}`,
      sawHidden: generations[0]?.sawHidden,
      finishReason: 'stop',
      servedModel: worded === undefined ? this.name : nameOf(worded, this.roles.verifier!),
      ...this.#madeOf([...generations, ...(worded === undefined ? [] : [worded])], turn),
      selection: { ...this.#selection(generations), verifier: worded && this.#verifierOutput(worded, asked) },
    };
  }

  async #answering(
    { majority, disagreement }: Comparison,
    { generations, drafts }: Sampled,
    turn: Turn,
  ): Promise<Generation> {
    this.#answered++;
    const answers = drafts.map(({ answer }) => answer);
    const asked = disagreement === undefined ? '' : clarifyingQuestion(disagreement);
    const chosen =
      disagreement && (await this.#askVerifier(choiceRequest(turn.messages, answers, asked), turn));
    const choice = chosen && choiceIn(chosen.text, drafts.length);
    if (chosen !== undefined && choice === undefined) this.#unread++;
    const { generation } = drafts[choice ?? majority]!;
    return {
      ...generation,
      servedModel: nameOf(generation, this.roles.generator),
      ...this.#madeOf([...generations, ...(chosen === undefined ? [] : [chosen])], turn),
      selection: {
        ...this.#selection(generations, generations.indexOf(generation)),
        verifier: chosen && this.#verifierOutput(chosen, asked),
      },
    };
  }

  async #askVerifier(messages: readonly ChatMessage[], turn: Turn): Promise<Generation | undefined> {
    const { seed, maxTokens } = turn.sampling;
    const sampling = {
      temperature: this.verifierTemperature,
      maxTokens,
      seed: seed === undefined ? seed : deriveSeed(seed, 'verifier'),
    };
    return this.roles.verifier?.generate(messages, sampling, { signal: turn.options.signal });
  }

  #selection(generations: readonly Generation[], place?: number): Selection {
    return {
      place,
      candidates: generations.map((one) => ({ model: nameOf(one, this.roles.generator), text: one.text })),
    };
  }

  #verifierOutput(said: Generation, asked: string): VerifierOutput {
    return { model: nameOf(said, this.roles.verifier!), asked, text: said.text };
  }

  #madeOf(all: readonly Generation[], { started }: Turn): Pick<Generation, 'usage' | 'timing'> {
    const attempts = Math.max(...all.map(({ timing }) => timing.attempts));
    return { usage: sumOfUsage(all), timing: { totalMs: performance.now() - started, attempts } };
  }
}

interface Turn {
  readonly name: string;
  readonly description: string;
  readonly messages: readonly ChatMessage[];
  readonly sampling: SamplingSettings;
  readonly options: GenerateOptions;
  readonly started: number;
}

interface Sampled {
  readonly generations: readonly Generation[];
  /** Of those that answer. */
  readonly drafts: readonly Draft[];
}

/** A verifier may write the question as an agent does. */
function spokenIn({ text }: Generation): string {
  return parseAgentMessage(text).visible;
}

const named = (said: Generation, model: Model): Generation => ({ ...said, servedModel: nameOf(said, model) });

/** A draft that was sampled and counted before. */
const asGenerated = ({ model, text = '' }: Selection['candidates'][number]): Generation => ({
  ...{ text, servedModel: model, finishReason: 'other' },
  usage: { promptTokens: 0, completionTokens: 0 },
  timing: { totalMs: 0, attempts: 1 },
});

const nameOf = ({ servedModel }: Generation, model: Model): string => servedModel ?? model.name;

/**
 * Opens an agent, of which `refine:<model>[,verifier=<model>][,refiner=<model>][,drafts=<n>]` is made of others.
 * @param open opens each of its models
 * @param runner is asked for when the first drafts are compared
 * @param verifierTemperature 0 by default
 * @throws {Fault} as `refineSpec` and `open`
 */
export async function openRefined(
  spec: string,
  open: (spec: string) => Model | Promise<Model>,
  runner: () => AnswerRunner | Promise<AnswerRunner>,
  verifierTemperature?: number,
): Promise<Model> {
  const refine = refineSpec(spec);
  if (refine === undefined) return open(spec);
  const { model, verifier, refiner, drafts } = refine;
  const roles = {
    generator: await open(model),
    verifier: verifier === undefined ? verifier : await open(verifier),
    refiner: refiner === undefined ? refiner : await open(refiner),
  };
  return new RefinedModel(spec, roles, drafts, runner, verifierTemperature);
}
