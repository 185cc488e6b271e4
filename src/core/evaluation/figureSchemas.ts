import * as z from 'zod';

// Figures with the schemas by which they are kept. Others import only their types: a schema is slow to make.

/** 95 %, in the unit of the estimate. */
export const intervalSchema = z.object({
  low: z.number(),
  high: z.number(),
});
export type Interval = z.infer<typeof intervalSchema>;

/** A mean with its 95 % interval. */
const estimateSchema = z.object({
  mean: z.number(),
  interval: intervalSchema,
});
export type Estimate = z.infer<typeof estimateSchema>;

/** A statistic; the interval needs enough values. */
const figureSchema = z.object({
  value: z.number(),
  interval: intervalSchema.exactOptional(),
});
export type Figure = z.infer<typeof figureSchema>;

export const pairedSchema = z.object({
  /** Mean of second − first; null without a task that both were graded on. */
  difference: z.number().nullable(),
  /** 95 %; null with too few tasks for resampling. */
  interval: intervalSchema.nullable(),
  /** Two-sided, of the hypothesis that the two policies are interchangeable. */
  p: z.number().nullable(),
  tasks: z.number(),
});
export type PairedDifference = z.infer<typeof pairedSchema>;

/** Of the dialogues of twenty questions, beside the best way to ask there is; averaged over dialogues. */
const questionFiguresSchema = z.object({
  dialogues: z.number(),
  /** Questions that would have been needed in expectation. */
  needed: z.number(),
  /** Questions asked, with a reply. */
  asked: z.number(),
  /** Expected information of a question in bits, at most 1; null when none was asked. */
  bits: z.number().nullable(),
  /** Expected questions lost by all that were asked. */
  regret: z.number(),
  /** Figures that the request and the replies leave when the agent answers. */
  left: z.number(),
});
export type QuestionFigures = z.infer<typeof questionFiguresSchema>;

/** What happens from draft to draft. Rates are averaged per task first, with 95 % Wilson intervals over tasks. */
const draftProgressSchema = z.object({
  /** Differences that replies told and that a later draft could mend. */
  told: z.number(),
  /** Share of them that the next draft has right. */
  applied: estimateSchema.nullable(),
  /** Drafts that followed another. */
  redrafts: z.number(),
  /** Share of those that have something wrong that the draft before had right. */
  regressed: estimateSchema.nullable(),
  /** Sentences of a simulator about the pages that could be read with certainty. */
  claims: z.number(),
  /** Share of those that are false of the pages. */
  falseClaims: estimateSchema.nullable(),
  /** Sentences of a simulator that were left unread. */
  unread: z.number(),
});
export type DraftProgress = z.infer<typeof draftProgressSchema>;

/** Drafts that were shown in one turn. */
const draftFiguresSchema = z.object({
  /** From 1. */
  turn: z.number(),
  dialogues: z.number(),
  score: figureSchema,
  /** Mean of the draft's score − that of the draft before it; absent where no draft came before. */
  gain: figureSchema.exactOptional(),
});

/** Figures of the web pages of one scale. Values are averaged per task first; intervals are over tasks. */
const pageFiguresSchema = z.object({
  ...{ mode: z.enum(['fixed', 'paper']), measure: z.string(), version: z.number(), renderer: z.string() },
  tasks: z.number(),
  dialogues: z.number(),
  /** Of the last draft, 0 to 1; without an interval below six tasks. */
  score: figureSchema,
  meanTurns: z.number(),
  drafts: z.array(draftFiguresSchema).readonly(),
});
export type PageFigures = z.infer<typeof pageFiguresSchema>;

/** How an agent asks where tasks have no facts: a model decides which requirement a question is about. */
const judgedAskingSchema = z.object({
  judge: z.string(),
  dialogues: z.number(),
  /** Of these, the ones whose specification failed its check or had none. */
  doubtful: z.number(),
  /** Dialogues that are left out, because the judge did not name a requirement or none for each question. */
  unread: z.number(),
  /** As Ask-F1 of facts; these are absent without a dialogue. */
  f1: figureSchema.exactOptional(),
  precision: z.number().nullable().exactOptional(),
  recall: z.number().exactOptional(),
});
export type JudgedAsking = z.infer<typeof judgedAskingSchema>;

/** Per dialogue; null where they cannot be counted, absent in evaluations of earlier versions. */
const questionHabits = {
  /** Questions about no decision of the task; null without facts. A message that asks nothing counts as one. */
  needlessQuestions: z.number().nullable().exactOptional(),
  /** Questions about a decision that was asked about before; null without facts. */
  repeatedQuestions: z.number().nullable().exactOptional(),
  /** Null for web pages. */
  meanQuestions: z.number().nullable().exactOptional(),
  /** Fraction of dialogues that the agent answered without a question; null for web pages. */
  unaskedRate: z.number().nullable().exactOptional(),
};

/** Besides `pages`, `notGradable` and `unfinished` they are of functions only, if some of the tasks are functions. */
export const figuresSchema = z.object({
  agent: z.string(),
  mode: z.enum(['fixed', 'paper']),
  /** Tasks with at least one dialogue that succeeded or failed: the `n` of the intervals. Without any, the figures are null. */
  tasks: z.number(),
  dialogues: z.number(),
  /** Fraction of dialogues with an answer that passes all tests, averaged per task first. */
  success: estimateSchema.nullable(),
  /** Fraction of tests passed, averaged per task first. */
  testsPassed: estimateSchema.nullable(),
  /** Fraction of dialogues in which a reply gave the reference away. */
  leakRate: z.number().nullable(),
  /** Agent turns per dialogue, the answer included. */
  meanTurns: z.number().nullable(),
  /** Hidden decisions that were never asked about, per dialogue; null when no task has facts, and for twenty questions. */
  missedDecisions: z.number().nullable(),
  /** Needless and repeated questions, per dialogue; null when no task has facts. */
  uselessQuestions: z.number().nullable(),
  /**
   * Harmonic mean of `askPrecision` and `askRecall` over all questions and decisions, 0 to 1; null where nothing has
   * facts, and for twenty questions. These three are absent in evaluations of earlier versions.
   */
  askF1: figureSchema.nullable().exactOptional(),
  /** Fraction of the questions that a hidden decision answers for the first time; null without a question, too. */
  askPrecision: z.number().nullable().exactOptional(),
  /** Fraction of the hidden decisions that were asked about. */
  askRecall: z.number().nullable().exactOptional(),
  ...questionHabits,
  /** Written by the agent, per dialogue; null when its model does not count them. */
  meanTokens: z.number().nullable(),
  /** Seconds of agent and collaborator, per dialogue; longer the more dialogues are played at once. */
  meanSeconds: z.number().nullable(),
  /** Fraction of dialogues that ran out of turns or of context, so that the last turn counted as the answer. */
  turnLimitRate: z.number().nullable(),
  /** Fraction of answers with a test that timed out. */
  timeOutRate: z.number().nullable(),
  /** Answers that could not be graded here, e.g. because the reference fails; left out of the rates. */
  notGradable: z.number(),
  /** Dialogues without an answer, because a model failed or the log lost a line of them; left out of the rates. */
  unfinished: z.number(),
  /** Dialogues with a specification that failed its check or had none; absent where no simulator had a specification. */
  doubtfulSpecifications: z.number().exactOptional(),
  /** Absent without a judge. */
  judgedAsking: judgedAskingSchema.exactOptional(),
  /** Scores of web pages, one entry a scale; absent without any. */
  pages: z.array(pageFiguresSchema).readonly().exactOptional(),
  /** Of the drafts of web pages; absent where they were not read. */
  draftProgress: draftProgressSchema.exactOptional(),
  /** Of twenty questions; absent without any. */
  questions: questionFiguresSchema.exactOptional(),
});
export type AgentFigures = z.infer<typeof figuresSchema>;

/** Averaged over the task's rollouts. */
export const taskFiguresSchema = z.object({
  task: z.string(),
  success: z.number(),
  testsPassed: z.number(),
  rollouts: z.number(),
  ...questionHabits,
  /** As of the agent; absent in evaluations of earlier versions. */
  askF1: z.number().nullable().exactOptional(),
  leakRate: z.number().nullable().exactOptional(),
  turnLimitRate: z.number().nullable().exactOptional(),
});
export type TaskFigures = z.infer<typeof taskFiguresSchema>;
