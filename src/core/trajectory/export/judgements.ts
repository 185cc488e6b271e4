import { inheritedBy, type Choice, type TrajectorySummary, type Turn } from '../trajectory';
import type { Candidate } from '../event';
import { verdictsOf } from '../opinions';
import { origin, sampledOrigin, sourceOf, type ChatMessageLike, type Rendered } from './rows';
import {
  AGENT_SIGNALS,
  type CountLeftOut,
  type ExportOptions,
  type LeftOutReason,
  type Signal,
} from './selection';

type RowOptions = Pick<ExportOptions, 'filter' | 'staysHere' | 'signals'>;

/** A row is a person's word on a single turn, or a reply; a dialogue may have several rows, or none. */
interface Judged {
  /** True if the index shows that a dialogue has no row, so that it is not read. */
  readonly isWithout: (summary: TrajectorySummary) => boolean;
  readonly without: LeftOutReason;
  /** Counts the words of people that make no row. */
  readonly rows: (of: Rendered, count: CountLeftOut, options: RowOptions) => object[];
}

const choices: Omit<Judged, 'rows'> = {
  isWithout: (summary) => summary.choices === 0,
  without: 'without a choice between candidates',
};
const ranking: Judged = { ...choices, rows: rowsOfChoices(rankingRow) };

export const JUDGED = {
  choices: { ...choices, rows: rowsOfChoices(choiceRow) },
  unpaired: { isWithout: () => false, without: 'without a thumb', rows: unpairedRows },
  feedback: { isWithout: isWithoutPeople, without: 'without feedback on a turn', rows: feedbackRows },
  stepwise: {
    isWithout: ({ verdicts = 0 }) => verdicts === 0,
    without: 'without a verdict on a critic',
    rows: stepwiseRows,
  },
  replies: { isWithout: () => false, without: 'without a reply to learn from', rows: replyRows },
  edits: { isWithout: () => false, without: 'without an edited suggestion', rows: editRows },
  'llamafactory-ranking': ranking,
  'axolotl-dpo': ranking,
} as const satisfies Record<string, Judged>;

interface Preferred {
  readonly prompt: readonly ChatMessageLike[];
  readonly choice: Choice;
  readonly picked: 0 | 1;
  readonly of: Rendered;
}

function rowsOfChoices(row: (preferred: Preferred) => object): Judged['rows'] {
  return (of, count) => {
    const said = saidIn(of.messages);
    const rows: object[] = [];
    for (const [index, { candidates = [] }] of of.trajectory.turns.entries()) {
      const prompt = of.messages.slice(0, said[index]);
      for (const choice of candidates) {
        const { picked } = choice.choice;
        if (picked === 'equal') count('choices of candidates that are equal');
        else if (picked === 'neither') count('choices of neither candidate');
        else if (choice.shown.candidates.some(({ text }) => text.trim() === ''))
          count('choices with an empty candidate');
        else rows.push(row({ prompt, choice, picked, of }));
      }
    }
    return rows;
  };
}

/**
 * Preference row of one turn: `prompt` is the conversation before the choice; `chosen` and `rejected` are the two
 * messages. `position` is the place at which the chosen one was shown: 0 or 1. `judged_same` and `judged_otherwise`
 * count the people who judged the same candidates later and let that leave: those who chose as well, and all others.
 */
function choiceRow({ prompt, choice: made, picked, of }: Preferred): object {
  const { shown, choice } = made;
  const [chosen, rejected] = sidesOf(shown, picked);
  const withTiming = choice.milliseconds !== undefined && of.consents.mayLeaveWithEdits(choice.by);
  return {
    prompt,
    chosen: [spoken(chosen.text)],
    rejected: [spoken(rejected.text)],
    tandem: {
      ...origin(of),
      turn: shown.turn,
      position: picked,
      chosen_by: choice.by,
      ...(withTiming && { milliseconds: choice.milliseconds }),
      ...judgedAgain(made, of),
      chosen: side(chosen),
      rejected: side(rejected),
    },
  };
}

function judgedAgain(
  { choice: { picked }, judgements = [] }: Choice,
  { consents }: Rendered,
): { readonly judged_same?: number; readonly judged_otherwise?: number } {
  const counted = judgements.filter(({ by }) => consents.mayLeave(by));
  if (counted.length === 0) return {};
  const same = counted.filter((judgement) => judgement.picked === picked).length;
  return { judged_same: same, judged_otherwise: counted.length - same };
}

/** One message on each side instead of a list, the form of LLaMA-Factory and Axolotl. */
function rankingRow({ prompt, choice: { shown }, picked, of }: Preferred): object {
  const [chosen, rejected] = sidesOf(shown, picked);
  return {
    messages: prompt,
    chosen: spoken(chosen.text),
    rejected: spoken(rejected.text),
    tandem: { ...sourceOf(of), turn: shown.turn, chosen_agent: chosen.agent, rejected_agent: rejected.agent },
  };
}

function sidesOf({ candidates }: Choice['shown'], picked: 0 | 1): [chosen: Candidate, rejected: Candidate] {
  return picked === 0 ? [candidates[0], candidates[1]] : [candidates[1], candidates[0]];
}

const side = (candidate: Candidate): object => ({
  agent: candidate.agent,
  sampling: candidate.sampling,
  ...sampledOrigin(candidate),
});

/**
 * One row for each person's thumb: the conversation before the message, the message, and whether the thumb is up.
 * Counts the thumbs that may not leave.
 */
function unpairedRows(of: Rendered, count: CountLeftOut): object[] {
  const said = saidIn(of.messages);
  const rows: object[] = [];
  for (const [index, { agent, ratings = [] }] of of.trajectory.turns.entries()) {
    for (const { thumb, by } of ratings) {
      if (thumb === undefined) continue;
      if (!of.consents.mayLeave(by)) {
        count('thumbs that may not leave this machine');
        continue;
      }
      rows.push({
        prompt: of.messages.slice(0, said[index]),
        completion: [spoken(agent.text)],
        label: thumb === 'up',
        tandem: { ...sourceOf(of), turn: agent.turn },
      });
    }
  }
  return rows;
}

function isWithoutPeople({ player, choices, verdicts = 0, raters = 0 }: TrajectorySummary): boolean {
  return player === undefined && choices === 0 && verdicts === 0 && raters === 0;
}

/**
 * One row for each thumb, choice and settled verdict, and one for each turn before an outcome, with the tokens as they
 * were sampled. A remark without a thumb has no sign, and makes no row.
 */
function feedbackRows(of: Rendered, count: CountLeftOut, options: RowOptions): object[] {
  const { staysHere = false, signals = AGENT_SIGNALS } = options;
  const { trajectory, consents } = of;
  const said = saidIn(of.messages);
  const isAllowed = (by: string): boolean =>
    staysHere ? consents.of(by) !== undefined : consents.mayLeave(by);
  const rowOf = (index: number, signal: Signal, word: object, more: object = {}): object => {
    const { agent } = trajectory.turns[index]!;
    return {
      prompt: of.messages.slice(0, said[index]),
      completion: [spoken(agent.text)],
      ...word,
      tandem: { ...sourceOf(of), turn: agent.turn, signal, ...more, completion: sampledOrigin(agent) },
    };
  };
  const reward = keptShare(of, options, count);
  const ofTurn: Partial<Record<Signal, (turn: Turn, index: number) => object[]>> = {
    thumbs: ({ ratings = [] }, index) =>
      ratings.flatMap(({ thumb, by }) => {
        if (thumb === undefined) return [];
        if (!isAllowed(by)) return count('thumbs that may not leave this machine');
        return [rowOf(index, 'thumbs', { label: thumb === 'up' })];
      }),
    verdicts: (turn, index) => {
      const label = labelOf(turn, isAllowed, count);
      return label === undefined ? [] : [rowOf(index, 'verdicts', { label })];
    },
    outcomes: (_, index) => {
      // All turns but the last ask.
      const questions = trajectory.turns.length - 1 - index;
      return reward === undefined ? [] : [rowOf(index, 'outcomes', { reward }, { questions })];
    },
  };
  const choices = signals.includes('choices') ? rowsOfChoices(choiceRow)(of, count, options) : [];
  const words = trajectory.turns.flatMap((turn, index) =>
    signals.flatMap((signal) => ofTurn[signal]?.(turn, index) ?? []),
  );
  return [...choices.map((row) => withSignal(row, 'choices')), ...words];
}

const withSignal = (row: object, signal: Signal): object => {
  const { tandem, ...rest } = row as { readonly tandem: object };
  return { ...rest, tandem: { ...tandem, signal } };
};

/** What is left of an answer in a person's own file, 0 to 1; undefined without an outcome that may be used. */
function keptShare(
  { trajectory: { outcome }, consents }: Pick<Rendered, 'trajectory' | 'consents'>,
  { staysHere = false, signals = AGENT_SIGNALS }: RowOptions,
  count: CountLeftOut,
): number | undefined {
  if (outcome === undefined || !signals.includes('outcomes')) return undefined;
  const { by, survived = 1 } = outcome;
  if (!consents.covers(by, 'outcomes') || !(staysHere || consents.mayLeaveWithEdits(by))) {
    count('outcomes without a consent that names them');
    return undefined;
  }
  return outcome.outcome === 'rejected' ? 0 : survived;
}

/**
 * One row for each run of turns that people's verdicts on critics label. The text of a step is the reply before it,
 * except in the first step, and the agent's message; what was said before the first step is the prompt.
 */
function stepwiseRows(of: Rendered, count: CountLeftOut): object[] {
  const { messages, trajectory, consents } = of;
  const said = saidIn(messages);
  const rows: { prompt: string; completions: string[]; labels: boolean[]; tandem: object }[] = [];
  let after: number | undefined;
  for (const [index, turn] of trajectory.turns.entries()) {
    const at = said[index]!;
    const label = labelOf(turn, (by) => consents.mayLeave(by), count);
    if (label === undefined) after = undefined;
    else {
      if (after === undefined) {
        const prompt = transcript(messages.slice(0, at));
        rows.push({
          prompt,
          completions: [],
          labels: [],
          tandem: { ...sourceOf(of), turn: turn.agent.turn },
        });
      }
      const row = rows.at(-1)!;
      row.completions.push(transcript(messages.slice(after ?? at, at + 1)));
      row.labels.push(label);
      after = at + 1;
    }
  }
  return rows;
}

/**
 * True if people say that a turn helped: they agree with a critic that says so, or disagree with one that says the
 * opposite. Undefined without verdicts, or if people contradict each other.
 */
function labelOf(turn: Turn, isAllowed: (by: string) => boolean, count: CountLeftOut): boolean | undefined {
  const verdicts = verdictsOf({ turns: [turn] }).filter(({ by }) => isAllowed(by));
  const signed = verdicts.filter(({ advantage }) => advantage !== 0);
  if (signed.length < verdicts.length) count('turns that neither helped nor hurt, says the critic');
  const labels = new Set(signed.map(({ advantage, agrees }) => agrees === advantage > 0));
  if (labels.size > 1) count('turns on which verdicts contradict each other');
  return labels.size === 1 ? labels.has(true) : undefined;
}

const ROLES = { system: 'System', user: 'User', assistant: 'Assistant' };

const transcript = (messages: readonly ChatMessageLike[]): string =>
  messages.map(({ role, content }) => `${ROLES[role]}: ${content}`).join('\n\n');

const saidIn = (messages: readonly ChatMessageLike[]): number[] =>
  messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));

const spoken = (content: string): ChatMessageLike => ({ role: 'assistant', content });

type Reply = NonNullable<Turn['reply']>;

interface Asked {
  readonly turn: Turn;
  readonly reply: Reply;
  /** What the collaborator read before the reply. */
  readonly prompt: readonly ChatMessageLike[];
}

/** One row for each reply to imitate: people's, or those of the kind of collaborator that the filter names. */
function replyRows(of: Rendered, count: CountLeftOut, { filter }: RowOptions): object[] {
  const kind = filter?.collaboratorKind ?? 'developer';
  return asked(of).flatMap((one) => {
    if (kindOf(one.reply) !== kind) return [];
    if (one.turn.leak?.leaked === true) return count('replies that leaked');
    // A trained collaborator would learn to stop in the middle of a sentence.
    if (one.reply.fullText !== undefined) return count('replies cut at the limit');
    return [{ messages: [...one.prompt, spoken(one.reply.text)], tandem: replyOrigin(of, one) }];
  });
}

/** Preference rows: what a person made of a simulator's suggestion, and the suggestion. */
function editRows(of: Rendered, count: CountLeftOut, { staysHere = false, signals }: RowOptions): object[] {
  return asked(of).flatMap((one) => {
    const { text, author, suggestion, fullText, by } = one.reply;
    if (author !== 'developer-edited-suggestion' || suggestion === undefined || suggestion === text)
      return [];
    if (one.turn.leak?.leaked === true) return count('replies that leaked');
    if (fullText !== undefined) return count('replies cut at the limit');
    if (!staysHere && !of.consents.mayLeaveWithEdits(by))
      return count('edits that may not leave this machine');
    if (signals !== undefined && !of.consents.covers(by, 'edits'))
      return count('edits without a consent that names them');
    const sides = { chosen: [spoken(text)], rejected: [spoken(suggestion)] };
    const row = { prompt: one.prompt, ...sides, tandem: replyOrigin(of, one) };
    return [signals === undefined ? row : withSignal(row, 'edits')];
  });
}

/** Each assistant message is a reply; the messages since the one before it are its prompt. */
function asked({ messages, trajectory: { turns, started } }: Rendered): Asked[] {
  const { replies } = inheritedBy(started.parent);
  const ends = saidIn(messages);
  const replied = turns.flatMap((turn) => (turn.reply === undefined ? [] : [{ turn, reply: turn.reply }]));
  return ends.flatMap((end, index) => {
    const one = replied[index];
    // The parent's rows have those that a fork repeats.
    return one === undefined || index < replies
      ? []
      : [{ ...one, prompt: messages.slice((ends[index - 1] ?? -1) + 1, end) }];
  });
}

function kindOf({ author, by }: Reply): 'developer' | 'simulator' | 'rules' {
  if (author !== 'simulator') return 'developer';
  return by === 'rules' ? 'rules' : 'simulator';
}

/** `role` keeps these rows out of runs that train the agent. */
function replyOrigin(of: Rendered, { turn, reply: { author, by, suggestedBy } }: Asked): object {
  return {
    ...origin(of),
    role: 'collaborator',
    turn: turn.agent.turn,
    reply_author: author,
    reply_by: by,
    ...(suggestedBy !== undefined && { reply_suggested_by: suggestedBy }),
  };
}
