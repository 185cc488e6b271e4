import * as z from 'zod';
import { isTooDeep } from '../json';
import { PAGE_PROPERTIES, type PageProperty } from '../pageCheck';
import { eachSamplingNumber } from '../samplingSettings';

/**
 * Levels of consent to the use of what a person writes: it stays here; it may be exported; it may be exported with
 * edits, that is with what was edited, what the reply limit cut off, and how long each reply took.
 */
export const consentLevels = ['local', 'export', 'export-with-edits'] as const;

export type ConsentLevel = (typeof consentLevels)[number];

/** Uses of what a person leaves behind that a consent must name; each was asked about on its own. */
export const consentSignals = ['edits', 'outcomes', 'own-code'] as const;

export type ConsentSignal = (typeof consentSignals)[number];

/**
 * Version of the log's events: one JSON object a line, append-only, the only truth. Readers keep unknown kinds of
 * events as they are, so that an older Tandem can use a newer log.
 */
export const LOG_VERSION = 1;

/** The sampled tokens of a message. The token that ended it may lack its log-probability, or be missing altogether. */
const tokens = z.object({
  ids: z.array(z.number().int()).readonly().optional(),
  logprobs: z.array(z.number()).readonly().optional(),
});
const usage = z.object({ promptTokens: z.number(), completionTokens: z.number() });
const timing = z.object({ firstTextMs: z.number().optional(), totalMs: z.number(), attempts: z.number() });
const sampling = z.object({
  ...eachSamplingNumber(() => z.number().optional()),
  temperature: z.number(),
  maxTokens: z.number(),
  seed: z.number().optional(),
  stop: z.array(z.string()).readonly().optional(),
  /** Fields that were sent with a neutral value, and those that the server refused. */
  server: z
    .object({
      neutral: z.array(z.string()).readonly(),
      refused: z.array(z.string()).readonly().optional(),
    })
    .optional(),
});

/**
 * `editor`: text by a model that the editor offers, even if a developer edited it. Such text stays out of training data
 * unless the user decides otherwise.
 */
const terms = z.string().optional();

const generated = {
  text: z.string(),
  /** Separate thoughts of a reasoning model, if the server returns them. */
  reasoning: z.string().optional(),
  finishReason: z.enum(['stop', 'length', 'other']),
  /** As the server calls it; the requested name if the server gives none. */
  model: z.string(),
  terms,
  sampling,
  tokens: tokens.optional(),
  promptTokenIds: z.array(z.number().int()).readonly().optional(),
  usage: usage.optional(),
  timing: timing.optional(),
  /** A teacher wrote it, which chose what to ask by the hidden information; `promptTokenIds` are without that. */
  sawHidden: z.literal(true).optional(),
  /**
   * The message was chosen among candidates, or (without `place`) asks because they differ, so it is no plain sample of
   * `model`. Scores of a critic are in nats, null for a candidate without tokens; `usage` is of all.
   */
  selection: z
    .object({
      place: z.number().int().optional(),
      candidates: z
        .array(
          z.object({
            model: z.string(),
            score: z.number().nullable().optional(),
            text: z.string().optional(),
          }),
        )
        .readonly(),
      /** What a verifier was asked about drafts that differ, and its reply. */
      verifier: z.object({ model: z.string(), asked: z.string(), text: z.string() }).optional(),
    })
    .optional(),
};

/** Fields of another program, as they are. */
const fromElsewhere = z
  .unknown()
  .refine((value) => !isTooDeep(value), 'it is nested too deeply')
  .optional();

const sessionPart = z.object({
  /** `note`: words of the program, such as a summary of what was compacted. */
  kind: z.enum(['text', 'thoughts', 'call', 'result', 'note']),
  /** Of a call its arguments, of a result what the tool returned. */
  text: z.string(),
  /** Of the tool. */
  name: z.string().optional(),
  /** Of the call; a result names the call that it answers. */
  id: z.string().optional(),
  at: z.string().optional(),
  /** Number of characters that were too many. */
  left: z.number().int().optional(),
  extra: fromElsewhere,
});

/** `agent` is its name as the dialogue was started with. */
const candidate = z.object({ agent: z.string(), ...generated });

const picked = z.literal([0, 1, 'equal', 'neither']);

export const MAX_PLAYERS = 1000;

export const reviewStates = ['accepted', 'redo'] as const;
export type ReviewState = (typeof reviewStates)[number];

/** The agent's name in a dialogue whose messages a person writes, instead of a model. */
export const PERSON = 'person';

export const collaboratorKinds = ['developer', 'simulator', 'rules'] as const;

/** The collaborator. `name` is the simulator's model, `rules`, or the developer's pseudonym. */
export const collaboratorSchema = z.object({
  kind: z.enum(collaboratorKinds),
  name: z.string(),
});

const sharedTask = {
  id: z.string(),
  description: z.string(),
  reference: z.string(),
  source: z.string().exactOptional(),
  license: z.string().exactOptional(),
};

const programSchema = z.object({
  ...sharedTask,
  kind: z.undefined().exactOptional(),
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
  specification: z
    .object({
      requirements: z.array(z.string()).readonly(),
      by: z.string().exactOptional(),
      check: z.object({ by: z.string(), passed: z.int(), tests: z.int() }).exactOptional(),
    })
    .exactOptional(),
});

const pageSchema = z.object({
  ...sharedTask,
  kind: z.literal('page'),
  checks: z
    .array(
      z.object({
        name: z.string(),
        where: z.string(),
        property: z.enum(Object.keys(PAGE_PROPERTIES) as PageProperty[]),
        equals: z.string(),
      }),
    )
    .readonly()
    .exactOptional(),
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
  /** Of a page: what its reward measures. It has no tests, and a success only with `checks`. */
  page: z
    .object({
      /** `structure`, `checks`, `clip` …; a string, as a later version may know others. */
      measure: z.string(),
      version: z.number().int(),
      score: z.number(),
      parts: z.record(z.string(), z.number()),
      /** Score of each message that had a page, in their order. */
      drafts: z.array(z.object({ turn: z.number().int(), score: z.number() })).readonly(),
      /** Scores of pages that were drawn by two renderers are not compared; `none` for checks. */
      renderer: z.string(),
    })
    .exactOptional(),
});

/**
 * Where a fork leaves its parent: `turn` is the first that they do not share, `by` whether they part at the agent's
 * message or only at the reply to it. What was said before is repeated in the fork's own lines.
 */
export const parentSchema = z.object({
  id: z.string(),
  turn: z.number().int().min(1),
  by: z.enum(['message', 'reply']),
  /** Pseudonyms of the parent's developers: what they agreed to holds for the fork, and erasing them erases it. */
  people: z.array(z.string()).readonly(),
});

/**
 * Fields of every line, besides the `number` and the `sum` that the writer appends. `at` is ISO 8601 in UTC. `episode`
 * is the id of a trajectory; `task` events belong to none.
 */
const head = { version: z.number().int(), at: z.string() };
const inEpisode = { ...head, episode: z.string() };
/** Turns are numbered from 1. */
const inTurn = { ...inEpisode, turn: z.number().int() };

export const replyAuthors = [
  'developer',
  'simulator',
  'developer-edited-suggestion',
  'developer-sent-suggestion',
] as const;

/**
 * What a collaborator is shown of a draft and the wanted page: pictures of both, their outlines in words, the differences
 * of the outlines, or, for a person, the pages themselves in frames.
 */
export type Shown = 'pictures' | 'outlines' | 'differences' | 'frames';

/** In lower case; it is a file's name, too. */
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Maximum number of places of one reply. */
export const MAX_PINS = 50;

/** A place on a page that a person points at. */
export const pinSchema = z.object({
  of: z.enum(['draft', 'wanted']),
  /** Fractions of the page's width and height, 0 to 1. */
  x: z.number().min(0).max(1),
  y: z.number().min(0).max(1),
  /** The place in words, as the reply's text says it. */
  words: z.string(),
});

export const eventSchema = z.discriminatedUnion('event', [
  /**
   * The first line of a segment, written by the log itself. `segment` is random and changes each time the segment is
   * rewritten, so that readers know that the bytes have moved.
   */
  z.object({
    event: z.literal('segment'),
    ...head,
    segment: z.string(),
    /** Ranges of the numbers of lines that were erased, or lost before a repair. */
    without: z
      .array(z.tuple([z.number().int(), z.number().int()]).readonly())
      .readonly()
      .optional(),
    /** Latest time of lines with unknown content, lost before the segment was rewritten. */
    lost: z.string().optional(),
    /**
     * Contents of the segments without check sums when this one was begun: name, CRC-32 of the first 256 bytes of the
     * first line, length and CRC-32 of all complete lines, and the latest time of those lines.
     */
    older: z
      .array(
        z.object({ name: z.string(), fingerprint: z.int(), bytes: z.int(), sum: z.int(), until: z.string() }),
      )
      .readonly()
      .optional(),
    /**
     * Of a segment that was imported from another data folder: a random name of that folder, length and CRC-32 of what
     * was read there, and what its people are called there and here.
     */
    imported: z
      .object({
        origin: z.string(),
        bytes: z.int().min(0),
        sum: z.int(),
        people: z.array(z.tuple([z.string(), z.string()]).readonly()).readonly(),
      })
      .optional(),
  }),
  /** A task, written once per segment before the first episode that plays it, so that each segment is complete. */
  z.object({ event: z.literal('task'), ...head, task: z.union([pageSchema, programSchema]) }),
  z.object({
    event: z.literal('episode-started'),
    ...inEpisode,
    task: z.string(),
    pack: z.string().optional(),
    agent: z.string(),
    collaborator: collaboratorSchema,
    protocol: z.object({ maxTurns: z.number().int(), replyLimit: z.number().int() }),
    /** Content hash by file name. */
    prompts: z.record(z.string(), z.string()),
    seed: z.number().int(),
    /** Number of the rollout of one task, from 0, and the name of the collection. */
    rollout: z.number().int().optional(),
    collection: z.string().optional(),
    /** The file of published rows or of a session, and the row's line in it. */
    imported: z
      .object({
        file: z.string(),
        line: z.number().int(),
        /** Of a session: the program that recorded it, its name of the session, when it began, and what else it says. */
        harness: z.string().optional(),
        session: z.string().optional(),
        at: z.string().optional(),
        extra: fromElsewhere,
      })
      .optional(),
    /** Of a fork: the dialogue that it continues otherwise. */
    parent: parentSchema.optional(),
  }),
  z.object({
    event: z.literal('agent-turn'),
    ...inTurn,
    /** Pseudonym of the person who wrote it; absent for a model. */
    by: z.string().optional(),
    ...generated,
    /** The requested name, if the server calls the model something else. */
    agent: z.string().optional(),
    /** Absent in an imported turn, because the row does not say, and in a person's. */
    sampling: sampling.optional(),
    /** Fields of an imported row: the message as the collaborator saw it, and the prompt. */
    imported: z
      .object({
        content: z.string(),
        input: fromElsewhere,
        /** Of a session: when it was said there, and the messages, thoughts and tool calls that the turn is made of. */
        at: z.string().optional(),
        parts: z.array(sessionPart).readonly().optional(),
      })
      .optional(),
  }),
  /** Two messages that a person chooses between, in the order they are shown. Neither is said yet. */
  z.object({
    event: z.literal('candidates'),
    ...inTurn,
    candidates: z.tuple([candidate, candidate]).readonly(),
  }),
  /** A person's choice between the preceding candidates. Unless it is `neither`, the `agent-turn` follows at once. */
  z.object({
    event: z.literal('choice'),
    ...inTurn,
    /** The first shown (0), the second (1), equally good, or both too bad to go on with. */
    picked,
    by: z.string(),
    /** Milliseconds since both were shown in full. */
    milliseconds: z.number().optional(),
  }),
  z.object({
    event: z.literal('reply'),
    ...inTurn,
    /** The text that the agent saw, after the reply limit. */
    text: z.string(),
    /** The developer changed an edited suggestion, and sent a sent suggestion as the simulator wrote it. */
    author: z.enum(replyAuthors),
    /** Pseudonym of the developer who sent it, simulator model or `rules`. */
    by: z.string(),
    /** If the limit cut something. A simulator is stopped shortly after the limit, so its text may break off. */
    fullText: z.string().optional(),
    /** The simulator's draft and its author, if a developer edited or sent it. */
    suggestion: z.string().optional(),
    suggestedBy: z.string().optional(),
    /** What the collaborator was shown of two pages: one of `Shown`. Later versions may know others. */
    shown: z.string().optional(),
    /** With `pictures`: SHA-256 of the two PNGs, which the data folder keeps by it, and what drew them. */
    pictures: z.object({ draft: sha256, wanted: sha256, renderer: z.string() }).optional(),
    /** Numbered from 1 in their order: the text names them `[1]`. */
    pins: z.array(pinSchema).max(MAX_PINS).readonly().optional(),
    terms,
    /** Absent for a developer, and if a simulator was stopped before its server reported the usage. */
    usage: usage.optional(),
    /** Of an imported session: when it was said there, and what else the session says of it. */
    imported: z.object({ at: z.string().optional(), extra: fromElsewhere }).optional(),
    /** Milliseconds from the agent's message to this reply. */
    milliseconds: z.number().optional(),
  }),
  /**
   * The developer asked for another sample of the agent's last message. It is written together with the `agent-turn` of
   * the same number that replaces that message.
   */
  z.object({ event: z.literal('turn-superseded'), ...inTurn }),
  z.object({ event: z.literal('hand-over'), ...inTurn, to: collaboratorSchema }),
  /** Fraction of the reference's code tokens, 0 to 1, that the reply of `turn` gives away. */
  z.object({
    event: z.literal('leak'),
    ...inTurn,
    fraction: z.number(),
    leaked: z.boolean(),
  }),
  /** `answer` is the code that is graded. */
  z.object({
    event: z.literal('answered'),
    ...inTurn,
    answer: z.string(),
    /**
     * With `turn-limit` and `context-limit` (the dialogue had outgrown the agent's context), the last turn counts as
     * the answer although it did not say so. With `ended-by-simulator` there is no answer: the last reply says why.
     */
    reason: z.enum(['answered', 'turn-limit', 'context-limit', 'ended-by-developer', 'ended-by-simulator']),
  }),
  z.object({ event: z.literal('grade'), ...inEpisode, grade: gradeSchema }),
  z.object({
    event: z.literal('rating'),
    ...inEpisode,
    /** 1 to 5, for the whole dialogue. */
    stars: z.number().int().min(1).max(5).optional(),
    comment: z.string().optional(),
    by: z.string(),
  }),
  /** The last one of a turn counts, and an empty one removes it. */
  z.object({
    event: z.literal('turn-rating'),
    ...inTurn,
    thumb: z.enum(['up', 'down']).optional(),
    comment: z.string().optional(),
    by: z.string(),
  }),
  /**
   * A person's title, tags and note. The last label of a person counts, and one without all three removes it. Repeating
   * the title of the same person's label before does not give it again.
   */
  z.object({
    event: z.literal('label'),
    ...inEpisode,
    title: z.string().optional(),
    tags: z.array(z.string()).readonly().optional(),
    note: z.string().optional(),
    by: z.string(),
  }),
  /**
   * A person accepts the dialogue or asks for it to be played again. The last one of anyone counts, and one without
   * `state` removes it.
   */
  z.object({
    event: z.literal('review'),
    ...inEpisode,
    state: z.enum(reviewStates).optional(),
    reason: z.string().optional(),
    by: z.string(),
  }),
  /**
   * A second person's choice between two candidates after the dialogue, which stays as it was. The last one of a person
   * counts.
   */
  z.object({
    event: z.literal('judgement'),
    ...inTurn,
    /** Place among the decided pairs of candidates of the turn, from 0. */
    pair: z.number().int().min(0),
    /** Time of the `candidates`: a turn that is played again gets others, to which the judgement does not apply. */
    shown: z.string(),
    picked,
    by: z.string(),
    milliseconds: z.number().optional(),
  }),
  /**
   * A person's verdict on a critic's judgement of a turn. The last one of that person, turn and critic counts; one
   * without `agrees` withdraws it.
   */
  z.object({
    event: z.literal('credit-verdict'),
    ...inTurn,
    /** A digest of the critic's weights and settings. */
    critic: z.string(),
    /** As the person was shown it, in the critic's unit. */
    advantage: z.number(),
    agrees: z.boolean().optional(),
    by: z.string(),
  }),
  /**
   * Outcome of an answer to a developer's own function: it was put into the file or not, and how much of it is still
   * there some minutes and a day later. The last one counts.
   */
  z.object({
    event: z.literal('outcome'),
    ...inEpisode,
    /** `edited`: accepted and changed since. */
    outcome: z.enum(['accepted', 'edited', 'rejected']),
    /** Fraction of the accepted lines, 0 to 1; absent before the measurement. */
    survived: z.number().min(0).max(1).optional(),
    /** From the acceptance to the measurement. */
    milliseconds: z.number().optional(),
    /** The function at the measurement, as the person has edited it; only if their consent names `own-code`. */
    code: z.string().optional(),
    by: z.string(),
  }),
  /** The dialogue stopped before its answer, and may be resumed. */
  z.object({
    event: z.literal('abandoned'),
    ...inEpisode,
    reason: z.enum(['cancelled', 'failed', 'skipped']),
    message: z.string(),
  }),
  /**
   * Perhaps with other prompts than at the start. With `agent`, right before that agent's first message, the dialogue
   * is that agent's from here on.
   */
  z.object({
    event: z.literal('resumed'),
    ...inEpisode,
    agent: z.string().optional(),
    prompts: z.record(z.string(), z.string()).optional(),
  }),
  /** Hidden from every list until it is undeleted. */
  z.object({ event: z.literal('deleted'), ...inEpisode }),
  z.object({ event: z.literal('undeleted'), ...inEpisode }),
  /** Written by a repair: lines of the episode were lost, and their content is unknown. */
  z.object({ event: z.literal('lines-lost'), ...inEpisode, reason: z.string() }),
  /**
   * Asked for before the first human turn is logged, and written again when it changes: the latest one of a pseudonym
   * counts.
   */
  z.object({
    event: z.literal('consent'),
    ...head,
    pseudonym: z.string(),
    purpose: z.string(),
    /** Absent in older logs, where it means `local`, as promised at the time. */
    level: z.enum(consentLevels).optional(),
    /** What else it covers, some of `consentSignals`; later versions may know others. Absent if nothing was asked. */
    signals: z.array(z.string()).readonly().optional(),
  }),
  /**
   * The part of a pack's tasks that a person is to play. Without a `part` no one has one any more: an assignment is
   * that line followed by one line for each person, so that erasing a person leaves the parts of the others as they
   * are.
   */
  z.object({
    event: z.literal('assignment'),
    ...head,
    pack: z.string(),
    part: z
      .object({
        person: z.string(),
        /** Place among those who play the pack, from 0, and their number when it was assigned. */
        place: z.number().int().min(0),
        places: z.number().int().min(1).max(MAX_PLAYERS),
        perTask: z.number().int().min(1),
        /** Deals the tasks to the places. */
        seed: z.number().int(),
      })
      .optional(),
  }),
]);

export type LogEvent = z.infer<typeof eventSchema>;
export type EventKind = LogEvent['event'];
export type EventOf<K extends EventKind> = Extract<LogEvent, { event: K }>;
export type Collaborator = z.infer<typeof collaboratorSchema>;
export type Candidate = z.infer<typeof candidate>;
export type Parting = Pick<z.infer<typeof parentSchema>, 'turn' | 'by'>;
export type Pin = z.infer<typeof pinSchema>;
export type Picked = EventOf<'choice'>['picked'];
/** An event without version and time, which the log adds; it also writes `segment` events itself. */
export type NewEvent = DistributiveOmit<Exclude<LogEvent, { event: 'segment' }>, 'version' | 'at'>;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
