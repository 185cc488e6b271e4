import * as z from 'zod';
import { isTooDeep } from '../nesting';
import { consentLevels } from './consent';

/**
 * The events of the trajectory log: one JSON object a line, append-only, the only truth. Kinds that a reader does not
 * know are kept as they are, so that an older Tandem survives a newer log.
 */
export const LOG_VERSION = 1;

/** The sampled tokens of a message. When the model ended it, the token that did may lack its log-probability, or both. */
const tokens = z.object({
  ids: z.array(z.number().int()).readonly().optional(),
  logprobs: z.array(z.number()).readonly().optional(),
});
const usage = z.object({ promptTokens: z.number(), completionTokens: z.number() });
const timing = z.object({ firstTextMs: z.number().optional(), totalMs: z.number(), attempts: z.number() });
const sampling = z.object({
  temperature: z.number(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  maxTokens: z.number(),
  seed: z.number().optional(),
  stop: z.array(z.string()).readonly().optional(),
  /** Fields of the server's API that were sent with the value that switches them off, and those that it refused. */
  server: z
    .object({
      neutral: z.array(z.string()).readonly(),
      refused: z.array(z.string()).readonly().optional(),
    })
    .optional(),
});

/**
 * Whose terms bind a text: `editor` for what a model wrote that the editor offers, also when a developer edited it. Such
 * text stays out of training data unless the user says otherwise.
 */
const terms = z.string().optional();

/** What a model generated for one message. */
const generated = {
  /** The whole message, thoughts included. */
  text: z.string(),
  /** What a reasoning model thought beside it, when the server tells. */
  reasoning: z.string().optional(),
  finishReason: z.enum(['stop', 'length', 'other']),
  /** As the server calls what it served, else as it was asked for. */
  model: z.string(),
  terms,
  sampling,
  tokens: tokens.optional(),
  promptTokenIds: z.array(z.number().int()).readonly().optional(),
  usage: usage.optional(),
  timing: timing.optional(),
};

/** A message that an agent would say next. `agent`: its name as the dialogue was started with. */
const candidate = z.object({ agent: z.string(), ...generated });

/** Who sits in the collaborator's seat. `name`: the simulator model, `rules`, or the developer's pseudonym. */
export const collaboratorSchema = z.object({
  kind: z.enum(['developer', 'simulator', 'rules']),
  name: z.string(),
});

export const taskSchema = z.object({
  id: z.string(),
  description: z.string(),
  reference: z.string(),
  testCases: z.array(z.object({ name: z.string(), call: z.string() })).readonly(),
  hiddenInformation: z.string(),
  facts: z
    .array(
      z.object({
        topic: z.string(),
        keywords: z.array(z.string()).readonly(),
        answers: z.array(z.string()).readonly(),
      }),
    )
    .readonly()
    .exactOptional(),
  source: z.string().exactOptional(),
  license: z.string().exactOptional(),
});

const testResult = z.discriminatedUnion('status', [
  z.object({ status: z.literal('passed'), milliseconds: z.number() }),
  z.object({ status: z.literal('wrong'), expected: z.string(), got: z.string(), milliseconds: z.number() }),
  z.object({
    status: z.literal('error'),
    type: z.string(),
    message: z.string(),
    line: z.number().optional(),
  }),
  z.object({ status: z.literal('timed-out'), limitMilliseconds: z.number() }),
  z.object({ status: z.literal('not-gradable'), reason: z.string() }),
]);

export const gradeSchema = z.object({
  grader: z.number().int().exactOptional(),
  mode: z.enum(['fixed', 'paper']),
  reward: z.number().nullable(),
  success: z.boolean().nullable(),
  tests: z.array(testResult).readonly(),
  referenceFailures: z.number().int().optional(),
  notGradable: z.string().optional(),
});

/** On every line, with the `number` and the `sum` that the writer adds last. `at`: ISO 8601, UTC. `episode` is one trajectory; `task` events stand outside of one. */
const head = { version: z.number().int(), at: z.string() };
const inEpisode = { ...head, episode: z.string() };

export const eventSchema = z.discriminatedUnion('event', [
  /**
   * The first line of a segment, written by the log itself. `segment` is random and new whenever the segment is
   * rewritten, so that a reader notices that the bytes it knows have moved.
   */
  z.object({
    event: z.literal('segment'),
    ...head,
    segment: z.string(),
    /** Ranges of the numbers of lines that are no longer here: they were erased, or lost before a repair. */
    without: z
      .array(z.tuple([z.number().int(), z.number().int()]).readonly())
      .readonly()
      .optional(),
    /** Lines of which nobody can tell what they said were lost before the segment was rewritten, written by this time. */
    lost: z.string().optional(),
    /**
     * What the segments without check sums held when this one was begun: name, CRC-32 of the first 256 bytes of the first
     * line, length and CRC-32 of all complete lines, and until when these were written.
     */
    older: z
      .array(
        z.object({ name: z.string(), fingerprint: z.int(), bytes: z.int(), sum: z.int(), until: z.string() }),
      )
      .readonly()
      .optional(),
  }),
  /** A task, written once per segment before the first episode that plays it, so that a log stands on its own. */
  z.object({ event: z.literal('task'), ...head, task: taskSchema }),
  z.object({
    event: z.literal('episode-started'),
    ...inEpisode,
    task: z.string(),
    /** The pack the task came from, as a file name. */
    pack: z.string().optional(),
    agent: z.string(),
    collaborator: collaboratorSchema,
    protocol: z.object({ maxTurns: z.number().int(), replyLimit: z.number().int() }),
    /** Name and content hash of each prompt file used. */
    prompts: z.record(z.string(), z.string()),
    seed: z.number().int(),
    /** Which of several rollouts of one task, from 0, and the collection it belongs to. */
    rollout: z.number().int().optional(),
    collection: z.string().optional(),
    /** Not played here but read from a file of published rows: its name, and the row's line in it. */
    imported: z.object({ file: z.string(), line: z.number().int() }).optional(),
  }),
  z.object({
    event: z.literal('agent-turn'),
    ...inEpisode,
    /** From 1. */
    turn: z.number().int(),
    ...generated,
    /** As it was asked for, where the server calls it otherwise. */
    agent: z.string().optional(),
    /** Absent in an imported row, which does not say. */
    sampling: sampling.optional(),
    /** The row's own fields, in a turn of an imported row: the message as the collaborator saw it, and the prompt. */
    imported: z
      .object({
        content: z.string(),
        input: z
          .unknown()
          .refine((input) => !isTooDeep(input), 'it is nested too deeply')
          .optional(),
      })
      .optional(),
  }),
  /** Two messages of which a person is to choose one, in the order they are shown. Neither is said yet. */
  z.object({
    event: z.literal('candidates'),
    ...inEpisode,
    /** The agent turn that one of them may become. */
    turn: z.number().int(),
    candidates: z.tuple([candidate, candidate]).readonly(),
  }),
  /** What a person said of the candidates before it. Unless it is `neither`, the `agent-turn` follows at once. */
  z.object({
    event: z.literal('choice'),
    ...inEpisode,
    turn: z.number().int(),
    /** The first shown, the second, as good as each other, or both too bad to go on with. */
    picked: z.literal([0, 1, 'equal', 'neither']),
    /** The developer's pseudonym. */
    by: z.string(),
    /** Milliseconds from when both were shown whole. */
    milliseconds: z.number().optional(),
  }),
  z.object({
    event: z.literal('reply'),
    ...inEpisode,
    /** The agent turn that it answers. */
    turn: z.number().int(),
    /** As the agent saw it: after the reply limit. */
    text: z.string(),
    /** Of the two kinds of suggestion, one was changed by the developer, the other was sent as the simulator wrote it. */
    author: z.enum(['developer', 'simulator', 'developer-edited-suggestion', 'developer-sent-suggestion']),
    /** Pseudonym of the developer who sent it, simulator model or `rules`. */
    by: z.string(),
    /** Before the reply limit, when that cut something. A simulator is stopped shortly after the limit, so its text may break off. */
    fullText: z.string().optional(),
    /** What the simulator had drafted, and which one, when a developer edited or sent it. */
    suggestion: z.string().optional(),
    suggestedBy: z.string().optional(),
    terms,
    /** Absent for a developer, and when a simulator was stopped before its server had counted. */
    usage: usage.optional(),
    /** Milliseconds from the agent's message to this reply. */
    milliseconds: z.number().optional(),
  }),
  /**
   * The developer asked for another sample of the agent's last message. Written together with the `agent-turn` of the
   * same number that takes its place.
   */
  z.object({ event: z.literal('turn-superseded'), ...inEpisode, turn: z.number().int() }),
  z.object({ event: z.literal('hand-over'), ...inEpisode, turn: z.number().int(), to: collaboratorSchema }),
  /** How much of the reference the reply of `turn` gives away: fraction of its code tokens, 0 to 1. */
  z.object({
    event: z.literal('leak'),
    ...inEpisode,
    turn: z.number().int(),
    fraction: z.number(),
    leaked: z.boolean(),
  }),
  /** The dialogue is over. `answer` is the code that is graded. */
  z.object({
    event: z.literal('answered'),
    ...inEpisode,
    turn: z.number().int(),
    answer: z.string(),
    /** `turn-limit`: the last turn counted as the answer without saying so. */
    reason: z.enum(['answered', 'turn-limit', 'ended-by-developer']),
  }),
  z.object({ event: z.literal('grade'), ...inEpisode, grade: gradeSchema }),
  z.object({
    event: z.literal('rating'),
    ...inEpisode,
    /** 1 to 5 for the whole dialogue. */
    stars: z.number().int().min(1).max(5).optional(),
    comment: z.string().optional(),
    by: z.string(),
  }),
  /** What a person thinks of one message of the agent; the last of a turn counts, an empty one takes it back. */
  z.object({
    event: z.literal('turn-rating'),
    ...inEpisode,
    turn: z.number().int(),
    thumb: z.enum(['up', 'down']).optional(),
    comment: z.string().optional(),
    by: z.string(),
  }),
  /**
   * Whether a person agrees with what a critic says of a turn; the last of that person on that turn and critic counts, one
   * without `agrees` takes it back.
   */
  z.object({
    event: z.literal('credit-verdict'),
    ...inEpisode,
    turn: z.number().int(),
    /** The critic's identity, a digest of its weights and settings. */
    critic: z.string(),
    /** What the person was shown: the turn's advantage, in the critic's unit. */
    advantage: z.number(),
    agrees: z.boolean().optional(),
    by: z.string(),
  }),
  /**
   * What became of an answer to a developer's own function: put into the file or not, and some minutes later how much of
   * it is still there. The last one counts.
   */
  z.object({
    event: z.literal('outcome'),
    ...inEpisode,
    /** `edited`: accepted, and changed since. */
    outcome: z.enum(['accepted', 'edited', 'rejected']),
    /** Fraction of the accepted lines that are still there, 0 to 1; absent before it was measured. */
    survived: z.number().min(0).max(1).optional(),
    /** Milliseconds from the acceptance to the measurement. */
    milliseconds: z.number().optional(),
    by: z.string(),
  }),
  /** Not finished: cancelled by a person, failed with a message, or skipped with a reason. May be resumed. */
  z.object({
    event: z.literal('abandoned'),
    ...inEpisode,
    reason: z.enum(['cancelled', 'failed', 'skipped']),
    message: z.string(),
  }),
  /** Taken up again, perhaps by another agent or with other prompts than it was started with. */
  z.object({
    event: z.literal('resumed'),
    ...inEpisode,
    agent: z.string().optional(),
    prompts: z.record(z.string(), z.string()).optional(),
  }),
  /** Hidden from every list until it is undeleted. */
  z.object({ event: z.literal('deleted'), ...inEpisode }),
  z.object({ event: z.literal('undeleted'), ...inEpisode }),
  /** Written by a repair: lines of the episode were lost, and nobody can tell what they said. */
  z.object({ event: z.literal('lines-lost'), ...inEpisode, reason: z.string() }),
  /** Asked before the first human turn is logged, and written again when it changes: the latest of a pseudonym counts. */
  z.object({
    event: z.literal('consent'),
    ...head,
    pseudonym: z.string(),
    purpose: z.string(),
    /** Absent in older logs: `local`, which is what was promised then. */
    level: z.enum(consentLevels).optional(),
  }),
]);

export type LogEvent = z.infer<typeof eventSchema>;
export type EventKind = LogEvent['event'];
export type EventOf<K extends EventKind> = Extract<LogEvent, { event: K }>;
export type Collaborator = z.infer<typeof collaboratorSchema>;
export type Candidate = z.infer<typeof candidate>;
export type Picked = EventOf<'choice'>['picked'];
/** An event as a writer gives it: version and time are added by the log, which also writes `segment` itself. */
export type NewEvent = DistributiveOmit<Exclude<LogEvent, { event: 'segment' }>, 'version' | 'at'>;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
