import { isDeepStrictEqual } from 'node:util';
import { debriefOf } from '../../core/dialogue/debrief';
import { fencedRanges, hasCode } from '../../core/dialogue/markers';
import { parseAgentMessage } from '../../core/dialogue/protocol';
import { verdictOf, type Grade, type PageMeasure, type TestResult } from '../../core/grading/grade';
import { isOwnFunction } from '../../core/task/own';
import { factsOf, isProgram, type Task, testsOf } from '../../core/task/task';
import type { Candidate, EventOf } from '../../core/trajectory/event';
import type { Choice, Turn } from '../../core/trajectory/trajectory';
import type {
  CandidatesView,
  ChoiceView,
  DebriefLine,
  GradeView,
  MessageView,
  PageGradeView,
  ReplyView,
  SessionState,
  TaskView,
  TestView,
  ToWebview,
  TurnRating,
  TurnView,
} from '../../../webview/session/protocol';
import { taskTitle } from '../../core/task/title';
import { fenceFor } from '../../core/markdown';
import { calledOf, modelsIn } from '../displayNames';
import { draftView, wordsAndPage, type DrawPage } from '../pageViews';
import type { Translate } from '../translate';
import { debriefLines, differenceLines } from './debrief';
import { protocolFor, type SessionParts, type SessionTask } from './sessionParts';
import { asksConsent, canEnd, tellsNames, type State } from './state';

/** Everything that a view of a session needs at its start, except the draft. */
export type Shown = Omit<Extract<ToWebview, { type: 'snapshot' }>, 'draft'>;

/** These functions are pure, so that they can be tested without an editor. */

/** Maximum number of characters shown of a message: drawing megabytes would stop the view. The log has all of it. */
const MAX_CHARS = 50_000;

export function shownOf(state: State, parts: SessionParts, from: SessionTask): Shown {
  const { stream, warning, candidates, episode } = state;
  const { task, pack, packName, own } = from;
  const draw = isProgram(task) ? undefined : parts.drawPage;
  const turns = state.turns.map((turn) => drawn(turn, tellsNames(state), draw));
  return {
    type: 'snapshot',
    panel: {
      episode,
      source: pack === undefined ? undefined : { pack, task: task.id },
      own: episode === undefined && own ? { place: own, description: task.description } : undefined,
    },
    task: {
      ...taskView(task, packName),
      title: titleOf(from),
      ...(draw && { wanted: draw(task.reference) }),
    },
    state: sessionState(state, turns, parts, from),
    turns,
    ...(stream && { stream }),
    ...(candidates && { candidates: candidatesView(candidates, draw) }),
    ...(warning && { warning }),
  };
}

export function changes(before: Shown, after: Shown): ToWebview[] {
  const { panel, stream, candidates, turns, state } = after;
  const rest: ToWebview[] = [];
  if (panel.episode !== before.panel.episode) rest.push({ type: 'panel', panel });
  if (stream !== before.stream) rest.push({ type: 'stream', ...(stream && { stream }) });
  turns.forEach((turn, index) => {
    if (!isDeepStrictEqual(turn, before.turns[index])) rest.push({ type: 'turn', turn });
  });
  if (!isDeepStrictEqual(candidates, before.candidates))
    rest.push({ type: 'candidates', ...(candidates && { candidates }) });
  if (isDeepStrictEqual(state, before.state)) return rest;
  // A notice comes before the turns, which a view would otherwise take for the result of its own message.
  const hasNews = state.notice !== undefined && !isDeepStrictEqual(state.notice, before.state.notice);
  return hasNews ? [{ type: 'state', state }, ...rest] : [...rest, { type: 'state', state }];
}

export const titleOf = ({ title, task }: SessionTask): string => title ?? taskTitle(task);

function sessionState(
  state: State,
  turns: readonly TurnView[],
  parts: SessionParts,
  from: SessionTask,
): SessionState {
  const { phase, seat, notice, grade, rating, decision, playedBy, answer } = state;
  const { maxTurns, replyLimit } = state.protocol ?? protocolFor(from.task, parts);
  const played = turns.length;
  const agentsMove = played === 0 || turns.at(-1)?.reply !== undefined;
  const own = parts.consent.given?.pseudonym;
  const { restriction, simulatorName } = parts;
  const isOwn = isOwnFunction(from.task);
  const showsSecond = parts.showsCandidates && !isOwn && parts.secondAgentName !== '';
  const secondAgent = showsSecond ? [parts.secondAgentName] : [];
  const drafter = state.drafter === undefined ? [] : [state.drafter];
  const agent = (phase === 'over' ? playedBy : undefined) ?? parts.agentName;
  const models = [agent, ...secondAgent, simulatorName, ...drafter, ...modelsIn(turns)];
  const isRefused =
    restriction !== undefined && ['ready', 'choosing', 'developer', 'stopped'].includes(phase);
  const needsSimulator =
    simulatorName === '' ||
    (simulatorName === 'rules' && isProgram(from.task) && factsOf(from.task).length === 0);
  return {
    phase: phase === 'ready' && parts.agentName === '' ? 'no-agent' : phase,
    seat,
    turn: Math.min(agentsMove && phase !== 'over' ? played + 1 : played, maxTurns),
    maxTurns,
    replyLimit,
    agent,
    ...(secondAgent.length > 0 && { secondAgent: parts.secondAgentName }),
    simulator: simulatorName,
    called: calledOf(models, parts),
    hasNext: state.hasNext,
    hasGuidelines: state.hasGuidelines,
    ...(from.pack !== undefined && { canReplay: true }),
    ...(isOwn && { onlyDeveloperKnows: true }),
    ...(decision && !state.isUndone && { decision }),
    ...(from.own && { ownFile: decodeURIComponent(from.own.file.split('/').at(-1)!) }),
    ...(needsSimulator && { needsSimulator }),
    showsCounters: parts.showsCounters,
    ...(state.isSuggesting && { isSuggesting: true }),
    ...(canEnd(state) && { canEnd: true }),
    ...(isRefused && { restriction }),
    ...(own !== undefined && { own, rating }),
    ...(notice && { notice }),
    ...(asksConsent(state, own) && { consent: { ...parts.consent.suggestion, folder: parts.dataFolder } }),
    ...(grade && {
      grade: gradeView(
        { task: from.task, turns: state.turns, answer, own, differences: state.differences },
        grade,
        parts.t,
      ),
    }),
  };
}

/** Turns that were drawn before, by whether they tell who wrote the candidates; none is parsed again. */
const drawnBefore = { hidden: new WeakMap<Turn, TurnView>(), told: new WeakMap<Turn, TurnView>() };

function drawn(turn: Turn, tells: boolean, draw: DrawPage | undefined): TurnView {
  const views = tells ? drawnBefore.told : drawnBefore.hidden;
  const view = views.get(turn) ?? turnView(turn, tells, draw);
  views.set(turn, view);
  return view;
}

export function taskView(task: Task, pack: string | undefined): TaskView {
  return {
    title: taskTitle(task),
    description: isProgram(task) ? fenceSignature(task.description) : task.description,
    pack: pack ?? '',
    tests: testsOf(task).length,
    ...(isProgram(task) ? {} : { isPage: true }),
  };
}

export function messageOf(text: string): { visible: string; thoughts: string; final: boolean } {
  const { thoughts, visible, answer } = parseAgentMessage(text);
  return {
    visible: answer === undefined ? visible : withAnswer(beforeAnswer(visible, answer), answer),
    thoughts,
    final: answer !== undefined,
  };
}

/**
 * @param tellsNames true when the dialogue is over, so that the writers of the candidates may be shown
 * @param draw in tasks of pages
 */
export function turnView(turn: Turn, tellsNames = false, draw?: DrawPage): TurnView {
  const { agent, candidates = [], superseded = [], reply, rating } = turn;
  return {
    turn: agent.turn,
    ...messageView(agent, draw),
    ...(candidates.length > 0 && {
      choices: candidates.map((choice) => choiceView(choice, tellsNames, draw)),
    }),
    samples: superseded.length + 1,
    milliseconds: Math.round(writingTime(turn) + (reply?.milliseconds ?? 0)),
    ...(rating && { rating: turnRating(rating) }),
    ...(reply && { reply: replyView(turn) }),
  };
}

/** The slower candidate plus the choice, because the time of the chosen one would reveal its writer. */
function writingTime({ agent, candidates }: Turn): number {
  if (candidates === undefined) return agent.timing?.totalMs ?? 0;
  const pairs = candidates.map(
    ({ shown, choice }) =>
      Math.max(...shown.candidates.map(({ timing }) => timing?.totalMs ?? 0)) + (choice.milliseconds ?? 0),
  );
  return pairs.reduce((sum, milliseconds) => sum + milliseconds, 0);
}

/** @param draw in tasks of pages */
export function messageView(
  { text, finishReason }: Pick<Candidate, 'text' | 'finishReason'>,
  draw?: DrawPage,
): MessageView {
  const { thoughts, final, ...rest } = messageOf(text);
  const { words: visible, source } = draw === undefined ? { words: rest.visible } : wordsAndPage(text);
  const said = cut(visible, MAX_CHARS);
  const thought = cut(thoughts, MAX_CHARS);
  const left = said.left + thought.left;
  const isCut = rest.visible === '' && finishReason === 'length';
  return {
    visible: said.shown,
    thoughts: thought.shown,
    ...(left > 0 && { left }),
    final,
    ...(isCut && { isCut }),
    ...(draw && source !== undefined && { draft: draftView(source, draw) }),
  };
}

/** Returns two candidates as a person sees them, with nothing that reveals which agent wrote which. */
function candidatesView(
  { candidates: [first, second] }: EventOf<'candidates'>,
  draw: DrawPage | undefined,
): CandidatesView {
  return [messageView(first, draw), messageView(second, draw)];
}

export function choiceView({ shown, choice }: Choice, tellsNames: boolean, draw?: DrawPage): ChoiceView {
  const [first, second] = shown.candidates;
  return {
    picked: choice.picked,
    by: choice.by,
    candidates: [messageView(first, draw), messageView(second, draw)],
    ...(tellsNames && { agents: [first.agent, second.agent] }),
  };
}

export function turnRating({ thumb, comment }: EventOf<'turn-rating'>): TurnRating {
  return { ...(thumb && { thumb }), ...(comment !== undefined && { comment }) };
}

const beforeAnswer = (visible: string, answer: string): string =>
  visible.endsWith(answer) ? visible.slice(0, visible.length - answer.length).trimEnd() : '';

export function cut(text: string, most: number): { shown: string; left: number } {
  return { shown: text.slice(0, most), left: Math.max(0, text.length - most) };
}

function replyView({ reply, leak }: Turn): ReplyView {
  const { text, author, by, suggestedBy, pins } = reply!;
  return {
    ...{ text, by, seat: author === 'simulator' ? 'simulator' : 'developer' },
    ...(pins && { pins }),
    ...(suggestedBy !== undefined && {
      suggested: { by: suggestedBy, isEdited: author === 'developer-edited-suggestion' },
    }),
    ...(pins && { pins }),
    ...(leak?.leaked === true ? { leakPercent: Math.round(leak.fraction * 100) } : {}),
  };
}

export interface GradedDialogue {
  readonly task: Task;
  readonly turns: readonly Turn[];
  /** That was graded, where it is known: when it has no code, the tests need not repeat that. */
  readonly answer?: string;
  /** Pseudonym of the person at this editor, who is called “you”. */
  readonly own?: string;
  /** What a page still lacks, where that was looked for. */
  readonly differences?: readonly string[] | undefined;
}

export function gradeView(dialogue: GradedDialogue, grade: Grade, t: Translate): GradeView {
  const { task, answer } = dialogue;
  if (answer !== undefined && isSyntaxError(grade) && !hasCode(answer)) return withoutCode(task, grade, t);
  const debrief = debriefIn(dialogue, grade, t);
  // A page does not pass.
  const verdict = grade.page === undefined ? verdictOf(grade) : undefined;
  return {
    headline: headlineOf(grade, t),
    ...(verdict && { verdict }),
    mode: grade.mode,
    ...(debrief.length > 0 && { debrief }),
    tests: grade.tests.map((test, index) => testView(testsOf(task)[index]?.call ?? '', test, t)),
    ...(grade.page && { page: pageGradeView(grade.page, t) }),
  };
}

function pageGradeView(
  { measure, version, parts, drafts, renderer }: PageMeasure,
  t: Translate,
): PageGradeView {
  const names: Readonly<Record<string, string>> = {
    texts: t('texts'),
    colors: t('colors'),
    pictures: t('pictures'),
    height: t('height'),
  };
  return {
    measure: t('{0}, version {1}', measure, version),
    parts: Object.entries(parts).map(([part, score]) => [names[part] ?? part, score] as const),
    drafts,
    ...(renderer !== 'none' && { renderer }),
  };
}

function debriefIn(
  { task, turns, answer, own, differences = [] }: GradedDialogue,
  grade: Grade,
  t: Translate,
): DebriefLine[] {
  if (grade.page !== undefined) return differenceLines(differences, t);
  if (answer === undefined || grade.success === null || !isProgram(task)) return [];
  const options = { own, hasPassed: grade.success, tests: grade.tests.length };
  return debriefLines(debriefOf({ task, turns, answer, grade }), options, t);
}

const isSyntaxError = ({ tests }: Grade): boolean =>
  tests.length > 0 && tests.every((test) => test.status === 'error' && test.type === 'SyntaxError');

/** Replaces the tests' results when the answer has no code: a syntax error in every test would not explain that. */
function withoutCode(task: Task, { mode, tests }: Grade, t: Translate): GradeView {
  return {
    headline: t('The answer has no code, so no test can pass'),
    verdict: 'failed',
    mode,
    tests: tests.map((_, index) => ({
      call: testsOf(task)[index]?.call ?? '',
      status: 'error',
      got: t('no code'),
    })),
  };
}

function headlineOf({ notGradable, reward, tests, page }: Grade, t: Translate): string {
  if (page !== undefined) return t('Score {0}', page.score.toFixed(2));
  if (reward === null) {
    return notGradable === undefined
      ? t('This answer cannot be graded here: the grader gave no reason.')
      : t('This answer cannot be graded here: {0}', notGradable);
  }
  // Imported rows have only the fraction of tests that passed.
  if (tests.length === 0) return t('{0} % of the tests passed', Math.round(reward * 100));
  const passed = tests.filter((test) => test.status === 'passed').length;
  return t('{0} of {1} tests passed', passed, tests.length);
}

function testView(call: string, test: TestResult, t: Translate): TestView {
  switch (test.status) {
    case 'passed':
      return { call, status: 'passed', milliseconds: test.milliseconds };
    case 'wrong': {
      const { expected, got, milliseconds } = test;
      return { call, status: 'wrong', expected, got, milliseconds };
    }
    case 'error': {
      const said = `${test.type}: ${test.message}`;
      const got = test.line === undefined ? said : t('{0} (line {1})', said, test.line);
      return { call, status: 'error', got };
    }
    case 'timed-out':
      return {
        call,
        status: 'timed-out',
        got: t('no result within {0} ms', Math.round(test.limitMilliseconds)),
      };
    case 'not-gradable':
      return { call, status: 'not-gradable', got: test.reason };
  }
}

/** Puts the answer into a code fence unless it has one; otherwise it would be read as Markdown. */
export function withAnswer(before: string, answer: string): string {
  const isFenced = answer === '' || fencedRanges(answer).length > 0;
  return `${before}\n\n${isFenced ? answer : fence(answer)}`.trim();
}

/** Puts the signature at the end of a request into a fence, because Markdown would take the bare line as prose. */
function fenceSignature(description: string): string {
  if (fencedRanges(description).length > 0) return description;
  const whole = description.trimEnd();
  const lineStart = whole.lastIndexOf('\n') + 1;
  const line = whole.slice(lineStart);
  const at = line.search(/(?<=^|\s)def \w+\s*\(/);
  const isWhole = at !== -1 && line.includes(')', at);
  const before = whole.slice(0, lineStart + at);
  return isWhole && before !== '' ? `${before.trimEnd()}\n${fence(line.slice(at))}` : description;
}

/** Returns code in a fence that is longer than any run of backticks in it. */
function fence(code: string): string {
  const marks = fenceFor(code, 3);
  return `${marks}python\n${code}\n${marks}`;
}
