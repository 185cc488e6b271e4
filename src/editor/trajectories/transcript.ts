import { isProgram, type Task } from '../../core/task/task';
import { isChoice, isOver, type Choice, type Trajectory } from '../../core/trajectory/trajectory';
import type { EventOf } from '../../core/trajectory/event';
import { tagsOf, titleOf } from '../../core/trajectory/opinions';
import type { PageGradeView } from '../../../webview/session/protocol';
import { wordsAndPage } from '../../views/pageViews';
import { gradeView } from '../../views/gradeView';
import { messageOf, partsOf, taskView } from '../../views/turnView';
import { reasonWords } from '../reasons';
import { collaboratorWords, simulatorCalled, type Namer } from '../displayNames';
import type { Translate } from '../translate';
import { abandonedWords, becameWords } from '../dialogue/words';
import { fenceFor } from '../../core/markdown';
import { inOneLine } from '../../core/text';
import { LINE_END, MarginFences } from '../marginFences';

const LETTERS = ['A', 'B'] as const;

export function transcriptOf(trajectory: Trajectory, t: Translate, namer: Namer): string {
  const { task, state, started, turns, pending = [], grades, abandoned, collaborator } = trajectory;
  const { ratings = [], labels = [] } = trajectory;
  const given = titleOf(labels);
  const { title, description } = taskView(task, started.pack);
  const facts = [
    t('Started: {0}', started.at),
    ...(started.pack === undefined ? [] : [t('Pack: {0}', started.pack)]),
    t('Agent: {0}', namer.calledBy(trajectory.agent)),
    t('Collaborator: {0}', collaboratorWords(collaborator, namer, t)),
    t('Outcome: {0}', outcomeOf(trajectory, t)),
    ...ratings.flatMap(({ stars, comment = '', by }) => [
      ...(stars === undefined ? [] : [t('Rating of {0}: {1} of 5', by, stars)]),
      ...(comment === '' ? [] : [t('Comment of {0}: {1}', by, noteLine(comment))]),
    ]),
    ...(given === undefined ? [] : [t('Title: {0}', noteLine(given))]),
    ...(tagsOf(labels).length === 0 ? [] : [t('Tags: {0}', noteLine(tagsOf(labels).join(', ')))]),
    ...labels.flatMap(({ note = '', by }) =>
      note === '' ? [] : [t('Note of {0}: {1}', by, noteLine(note))],
    ),
  ].map((fact) => `- ${fact}`);
  const ofCandidates = isOver(state, abandoned?.reason) ? namer : undefined;
  const said = turns.flatMap(({ agent, candidates = [], superseded = [], reply, ratings: remarks = [] }) => {
    const { thoughts } = messageOf(agent.text);
    return [
      `### ${t('Agent, turn {0}', agent.turn)}`,
      visibleOf(agent.text, task),
      ...partsOf(agent, t).map(({ name, text }) => quoted(harmless(`${name}: ${text}`))),
      ...(thoughts === '' ? [] : [quoted(harmless(t('Thoughts: {0}', thoughts)))]),
      ...candidates.flatMap((choice) => choiceLines(choice, task, ofCandidates, t)),
      ...(superseded.length === 0 ? [] : [quoted(t('Sample {0} of this message.', superseded.length + 1))]),
      ...remarks.map((remark) => quoted(harmless(remarkWords(remark, t)))),
      ...(reply === undefined
        ? []
        : [replyHeading(reply, t, namer), harmless(reply.text), ...pinLines(reply)]),
    ];
  });
  const undecided = pending.flatMap((shown) =>
    isChoice(shown)
      ? choiceLines(shown, task, ofCandidates, t)
      : candidateLines(shown.shown, task, ofCandidates, t),
  );
  const results = grades.map(({ grade }) =>
    gradeTable(gradeView({ task, turns, answer: trajectory.answer?.answer }, grade, t), t),
  );
  return `${[`# ${title}`, facts.join('\n'), `## ${t('Request')}`, harmless(description), `## ${t('Dialogue')}`, ...said, ...undecided, ...results].join('\n\n')}\n`;
}

/** The message of an agent; its page in a fence, since a preview would draw it. */
function visibleOf(text: string, task: Task): string {
  if (isProgram(task)) return harmless(messageOf(text).visible);
  const { words, source } = wordsAndPage(text);
  if (source === undefined) return harmless(words);
  const marks = fenceFor(source, 3);
  return [harmless(words), `${marks}html\n${source}\n${marks}`].filter(Boolean).join('\n\n');
}

const pinLines = ({ pins = [] }: EventOf<'reply'>): string[] =>
  pins.length === 0 ? [] : [pins.map(({ words }, index) => `${index + 1}. ${noteLine(words)}`).join('\n')];

/** Returns what a person wrote about the dialogue in one line, which opens nothing of its own. */
const noteLine = (text: string): string => harmless(inOneLine(text));

function outcomeOf({ state, abandoned, outcome }: Trajectory, t: Translate): string {
  if (abandoned !== undefined)
    return `${abandonedWords(abandoned.reason, t)}, ${reasonWords(abandoned.message, t)}`;
  if (state !== 'answered') return t('in progress');
  return outcome === undefined ? t('answered') : becameWords(outcome, t);
}

function replyHeading(reply: EventOf<'reply'>, t: Translate, namer: Namer): string {
  if (reply.author !== 'simulator') return `### ${reply.by} (${authorWords(reply, t, namer)})`;
  const kind = reply.by === 'rules' ? 'rules' : 'simulator';
  return `### ${collaboratorWords({ kind, name: reply.by }, namer, t)}`;
}

function authorWords({ author, suggestedBy }: EventOf<'reply'>, t: Translate, namer: Namer): string {
  const drafter = suggestedBy === undefined ? t('the simulator') : simulatorCalled(suggestedBy, namer, t);
  switch (author) {
    case 'developer':
      return t('developer');
    case 'simulator':
      return t('simulator');
    case 'developer-edited-suggestion':
      return t('developer, edited from a draft of {0}', drafter);
    case 'developer-sent-suggestion':
      return t('developer, as {0} drafted it', drafter);
  }
}

function remarkWords({ thumb, comment, by }: EventOf<'turn-rating'>, t: Translate): string {
  const verdict = thumb === undefined ? [] : [thumb === 'up' ? t('good') : t('bad')];
  return `${by}: ${[...verdict, ...(comment === undefined ? [] : [comment])].join(', ')}`;
}

function gradeTable(
  { headline, mode, debrief = [], tests, page }: ReturnType<typeof gradeView>,
  t: Translate,
): string {
  const rows = tests.map(
    ({ call, status, expected = '', got = '' }) =>
      `| ${[cell(call), status, cell(expected), cell(got)].join(' | ')} |`,
  );
  const head = [`| ${t('Call')} | ${t('Result')} | ${t('Expected')} | ${t('Got')} |`, '|---|---|---|---|'];
  const missed = debrief.map(({ text, call = '' }) =>
    `- ${inOneLine(harmless(text))} ${cell(call)}`.trimEnd(),
  );
  return [
    `## ${headline} (${mode})`,
    ...(missed.length === 0 ? [] : [missed.join('\n')]),
    page === undefined ? [...head, ...rows].join('\n') : pageLines(page, t),
  ].join('\n\n');
}

function pageLines({ measure, parts, drafts, renderer }: PageGradeView, t: Translate): string {
  const scores = drafts.map(({ turn, score }) => t('turn {0}: {1}', turn, score.toFixed(2)));
  return [
    ...parts.map(([name, score]) => `- ${name}: ${score.toFixed(2)}`),
    `- ${t('each draft: {0}', scores.join(', '))}`,
    renderer === undefined
      ? `- ${t('measure: {0}', measure)}`
      : `- ${t('measure: {0}; drawn by {1}', measure, noteLine(renderer))}`,
  ].join('\n');
}

/** Returns code for a table's cell: without line breaks or bars, in a fence longer than any run of backticks. */
function cell(text: string): string {
  if (text === '') return '';
  const marks = fenceFor(text, 1);
  return `${marks} ${inOneLine(text).replaceAll('|', '\\|')} ${marks}`;
}

/** @param namer names their writers once the dialogue is over; undefined before */
function candidateLines(
  { turn, candidates }: EventOf<'candidates'>,
  task: Task,
  namer: Namer | undefined,
  t: Translate,
): string[] {
  return candidates.flatMap((candidate, place) => [
    `### ${t('Candidate {0} for turn {1}', LETTERS[place]!, turn)}${namer === undefined ? '' : ` (${namer.calledBy(candidate.agent)})`}`,
    visibleOf(candidate.text, task),
  ]);
}

/** @param namer as in `candidateLines` */
function choiceLines(
  { shown, choice: { picked, by } }: Choice,
  task: Task,
  namer: Namer | undefined,
  t: Translate,
): string[] {
  const [a, b] = LETTERS.map((letter, place) =>
    namer === undefined ? letter : `${letter} (${namer.calledBy(shown.candidates[place]!.agent)})`,
  ) as [string, string];
  const words = {
    0: t('{0} chose {1} over {2}.', by, a, b),
    1: t('{0} chose {1} over {2}.', by, b, a),
    equal: t('{0} found {1} and {2} equal; the dialogue continued with A.', by, a, b),
    neither: t('{0} wanted neither {1} nor {2}.', by, a, b),
  }[picked];
  const passedOver = picked === 'neither' ? ([0, 1] as const) : [picked === 1 ? 0 : 1];
  return [
    words,
    ...passedOver.map((place) => `${LETTERS[place]}: ${visibleOf(shown.candidates[place]!.text, task)}`),
  ].map(quoted);
}

export const quoted = (text: string): string => text.replace(/^/gm, '> ');

/**
 * Makes an untrusted speaker's Markdown safe for a document that holds other texts, too. In a preview it draws no
 * picture (whose address can carry data away) and no HTML, opens no chapter of its own, and code that it does not close
 * ends with it. Code stays as it is where every reader takes it for code.
 */
export function harmless(text: string): string {
  const shown: string[] = [];
  let block: string[] = [];
  const fences = new MarginFences();
  const endBlock = (): void => {
    if (block.length > 0) for (const line of proseOf(block)) shown.push(line);
    block = [];
  };
  for (const line of text.split(LINE_END)) {
    const code = fences.take(line);
    if (code === undefined) block.push(line);
    if (code !== undefined || line.trim() === '') endBlock();
    if (code !== undefined) shown.push(code);
  }
  endBlock();
  if (fences.mark !== undefined) shown.push(fences.mark);
  return shown.join('\n');
}

/** @param block lines of which only the last may be blank */
function proseOf(block: readonly string[]): string[] {
  const lines = block.map((line) =>
    line.replace(/^( {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)/, String.raw`$1\$2`),
  );
  // In one paragraph, a code span may continue in the next line.
  const texts = lines.every((line) => CERTAINLY_PARAGRAPH.test(line)) ? [lines.join('\n')] : lines;
  const codes = texts.map(codeSpans);
  // Otherwise a span may end elsewhere: in another line, with a cell of a table, or in a formula.
  const isCode =
    codes.every(({ isWhole }) => isWhole) && !lines.some((line) => line.includes('$') || isBelowHead(line));
  return texts.flatMap((text, index) => {
    let safe = '';
    let end = 0;
    for (const span of codes[index]!.spans) {
      const code = text.slice(span.start, span.end);
      safe += escaped(text.slice(end, span.start)) + (isCode || !DRAWN.test(code) ? code : literal(code));
      end = span.end;
    }
    return (safe + escaped(text.slice(end))).split('\n');
  });
}

/** Matches the beginning of a line that can only be a paragraph, or a blank line, which ends one. */
const CERTAINLY_PARAGRAPH = /^ {0,3}[\p{L}`"'(]|^\s*$/u;

/** Returns whether the line may be the rule below the head of a table, in a quotation or list, too. */
const isBelowHead = (line: string): boolean => line.includes('-') && /^[-+*>|:\s\d.)\\]*$/.test(line);

interface Code {
  readonly spans: readonly { readonly start: number; readonly end: number }[];
  /** True when every backtick belongs to a span, so that none continues in another line. */
  readonly isWhole: boolean;
}

/** Finds the code spans of a text: from a run of backticks to the next one of the same length, as in CommonMark. */
function codeSpans(text: string): Code {
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: { length } }) => ({ start: index, length }));
  const nextByLength = new Map<number, number>();
  const next = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    next[at] = nextByLength.get(runs[at]!.length) ?? -1;
    nextByLength.set(runs[at]!.length, at);
  }
  const spans: { start: number; end: number }[] = [];
  let isWhole = true;
  for (let at = 0; at < runs.length; at += 1) {
    const { start } = runs[at]!;
    const closing = runs[next[at]!];
    // A backslash escapes the first backtick.
    isWhole &&= closing !== undefined && text[start - 1] !== '\\';
    if (closing === undefined) continue;
    spans.push({ start, end: closing.start + closing.length });
    at = next[at]!;
  }
  return { spans, isWhole };
}

/** Matches the beginning of anything drawn outside of code: a tag, a comment, a picture. */
const DRAWN = /<(?=[a-z/!?])|!\[/i;
const DRAWN_OR_ESCAPED = /\\[^]|<(?=[a-z/!?])|!\[/gi;

/** Escapes tags and pictures. Anything after a backslash is escaped already, and one more would undo that. */
const escaped = (text: string): string =>
  text.replace(DRAWN_OR_ESCAPED, (found) =>
    found.startsWith('\\') ? found : found === '<' ? String.raw`\<` : String.raw`!\[`,
  );

/** Escapes all punctuation, whatever it means. */
const literal = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
