import * as z from 'zod';
import { Fault, type FaultCode } from '../fault';
import { MAX_REPLY_CHARS } from '../model/model';
import { isProgram } from '../task/task';
import { AnswerNow, type Forcing } from '../training/credit/answerNow';
import type { CandidateWorth, Position } from '../training/credit/playedCredit';
import { Rollouts } from '../training/credit/rollouts';
import type { EnvironmentPlan } from './episode';
import { historySchema } from './messages';

const MAX_STATES = 1024;
const MAX_CANDIDATES = 256;
const MAX_SAMPLES = 1024;

const valuesRequest = z.strictObject({
  score: z.enum(['answer-now', 'monte-carlo']),
  /** Forced answers, or dialogues played to their end, for each value. */
  samples: z.int().min(1).max(MAX_SAMPLES),
  seed: z.int().min(0).default(0),
  temperature: z.number().min(0).default(1),
  max_tokens: z.int().min(1).default(2048),
  /** Whether the histories without a candidate get values, too. */
  with_history: z.boolean().default(false),
  states: z
    .array(
      z.strictObject({
        task_id: z.string(),
        split: z.string().nullish(),
        history: historySchema.default([]),
        candidates: z.array(z.string().max(MAX_REPLY_CHARS)).max(MAX_CANDIDATES).default([]),
      }),
    )
    .min(1)
    .max(MAX_STATES),
});

interface SentValue {
  /** Null where `why` says that there is none. */
  readonly value: number | null;
  readonly reply?: string;
  readonly ended?: boolean;
  readonly why?: string;
}

interface SentValues {
  readonly agent: string;
  readonly forcing?: Forcing;
  readonly states: readonly {
    readonly history?: SentValue;
    readonly candidates: readonly SentValue[];
  }[];
}

/** Answers or dialogues at work at once for a request. */
const AT_ONCE = 64;

/** About one dialogue or its task; the others get their values. */
const OF_ONE: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'training/cannot-score',
  'model/too-long',
  'dialogue/no-facts',
  'dialogue/empty-simulation',
]);

/**
 * Values candidate turns, by which a trainer ranks them.
 * @throws {Fault} `environment/no-agent`, `environment/unknown-task`, `environment/unknown-split`; faults of the models
 * @throws {z.ZodError} for another form
 */
export async function valuesOf(
  plan: EnvironmentPlan,
  body: unknown,
  signal: AbortSignal,
): Promise<SentValues> {
  const { valueAgent: agent } = plan;
  if (agent === undefined)
    throw new Fault(
      'environment/no-agent',
      'This server has no model that values turns; start it with --value-agent <model>.',
    );
  const { score, states, with_history: withHistory, ...request } = valuesRequest.parse(body);
  const { samples, seed, temperature, max_tokens: maxTokens } = request;
  const stop = new AbortController();
  const parts = {
    ...{ ...plan, agent, samples, seed, concurrency: AT_ONCE, sampling: { temperature, maxTokens } },
    signal: AbortSignal.any([signal, stop.signal]),
  };
  const by = score === 'answer-now' ? new AnswerNow(parts) : new Rollouts(parts);
  const sent = states.map(() => ({
    history: undefined as SentValue | undefined,
    candidates: [] as SentValue[],
  }));
  const positions = states.map((state) => positionOf(plan, state));
  const hasProgram = positions.some(({ task }) => isProgram(task));
  const jobs = states.flatMap((state, index) => {
    const position = positions[index]!;
    const into = sent[index]!;
    const candidates = state.candidates.map((message, place) => async () => {
      into.candidates[place] = await valued(() => by.candidate(position, message));
    });
    const history = async (): Promise<void> => {
      into.history = await valued(async () => ({ value: await by.value(position) }));
    };
    return withHistory ? [history, ...candidates] : candidates;
  });
  try {
    await Promise.all(jobs.map((job) => job()));
    const forcing = by instanceof AnswerNow && hasProgram ? await by.forcing() : undefined;
    return { agent: agent.name, forcing, states: sent };
  } finally {
    // After a failure other samples would go on.
    stop.abort();
  }
}

function positionOf(
  { splits, protocol, pageProtocol }: EnvironmentPlan,
  { history, ...choice }: z.infer<typeof valuesRequest>['states'][number],
): Position {
  const { task } = splits.choose(choice);
  return { task, history, protocol: isProgram(task) ? protocol : pageProtocol };
}

async function valued(value: () => Promise<Partial<CandidateWorth> & { value: number }>): Promise<SentValue> {
  try {
    return await value();
  } catch (error) {
    if (error instanceof Fault && OF_ONE.has(error.code)) return { value: null, why: error.message };
    throw error;
  }
}
