import { isDeepStrictEqual } from 'node:util';
import { specificationOf } from '../../core/dialogue/specification/specification';
import { specifiedPlayer } from '../../core/dialogue/specification/specificationSpec';
import { isOwnFunction } from '../../core/task/own';
import { factsOf, isProgram, type Task } from '../../core/task/task';
import { PERSON } from '../../core/trajectory/event';
import type { Turn } from '../../core/trajectory/trajectory';
import type { ModelNames, SessionState, ToWebview, TurnView } from '../../../webview/session/protocol';
import { taskTitle } from '../../core/task/title';
import { calledOf, modelsIn } from '../displayNames';
import type { DrawPage } from '../../views/pageViews';
import { protocolFor, type SessionParts, type SessionTask } from './dialogueLink';
import { asksConsent, canEnd, tellsNames, type State } from './state';
import { candidatesView, taskView, turnView } from '../../views/turnView';
import { gradeView } from '../../views/gradeView';

export type Shown = Omit<Extract<ToWebview, { type: 'snapshot' }>, 'draft'>;

export function shownOf(state: State, parts: SessionParts, from: SessionTask): Shown {
  const { stream, warning, candidates, episode } = state;
  const { task, pack, packName, own, asAgent } = from;
  const draw = isProgram(task) ? undefined : parts.drawPage;
  const turns = state.turns.map((turn) => drawn(turn, tellsNames(state), draw));
  return {
    type: 'snapshot',
    panel: {
      episode,
      source: pack === undefined ? undefined : { pack, task: task.id, asAgent },
      own: episode === undefined && own ? { place: own, description: task.description } : undefined,
    },
    task: {
      ...taskView(task, packName),
      title: titleOf(from),
      ...(draw && state.seat !== 'agent' && { wanted: draw(task.reference) }),
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
  const isAgent = seat === 'agent';
  const showsSecond = !isAgent && parts.showsCandidates && !isOwn && parts.secondAgentName !== '';
  const secondAgent = showsSecond ? [parts.secondAgentName] : [];
  const drafter = state.drafter === undefined ? [] : [state.drafter];
  const agent = isAgent ? PERSON : ((phase === 'over' ? playedBy : undefined) ?? parts.agentName);
  const models = [agent, ...secondAgent, simulatorName, ...drafter, ...modelsIn(turns)];
  const isRefused =
    restriction !== undefined && ['ready', 'choosing', 'developer', 'asking', 'stopped'].includes(phase);
  const needsSimulator =
    simulatorName === '' ||
    (simulatorName === 'rules' && isProgram(from.task) && factsOf(from.task).length === 0) ||
    (specifiedPlayer(simulatorName) !== undefined && specificationOf(from.task) === undefined);
  return {
    phase: phase === 'ready' && agent === '' ? 'no-agent' : phase,
    seat,
    turn: Math.min(agentsMove && phase !== 'over' ? played + 1 : played, maxTurns),
    maxTurns,
    replyLimit,
    agent,
    ...(secondAgent.length > 0 && { secondAgent: parts.secondAgentName }),
    simulator: simulatorName,
    called: { ...calledOf(models, parts), ...doubted(simulatorName, from.task, parts) },
    hasNext: state.hasNext,
    // They are written for the collaborator, who knows the reference.
    hasGuidelines: state.hasGuidelines && !isAgent,
    ...(from.pack !== undefined && { canReplay: true }),
    ...(isOwn && { onlyDeveloperKnows: true }),
    ...(decision && !state.isUndone && { decision }),
    ...(from.own && { ownFile: decodeURIComponent(from.own.file.split('/').at(-1)!) }),
    ...(needsSimulator && { needsSimulator }),
    showsCounters: parts.showsCounters,
    ...(state.isSuggesting && { isSuggesting: true }),
    ...(canEnd(state) && { canEnd: true }),
    ...(isRefused && { restriction }),
    ...(own !== undefined && { own }),
    ...(own !== undefined && !isAgent && { rating }),
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

/** The name of a simulator says when no test has confirmed the specification that it plays by. */
function doubted(simulator: string, task: Task, parts: SessionParts): ModelNames {
  const state = specifiedPlayer(simulator) && specificationOf(task)?.state;
  const { t } = parts;
  const name = parts.calledBy(simulator);
  if (state === 'failed') return { [simulator]: t('{0} (the specification failed its check)', name) };
  return state === 'unchecked' ? { [simulator]: t('{0} (the specification is unchecked)', name) } : {};
}

/** Turns that were drawn before, by whether they tell who wrote the candidates; none is parsed again. */
const drawnBefore = { hidden: new WeakMap<Turn, TurnView>(), told: new WeakMap<Turn, TurnView>() };

function drawn(turn: Turn, tells: boolean, draw: DrawPage | undefined): TurnView {
  const views = tells ? drawnBefore.told : drawnBefore.hidden;
  const view = views.get(turn) ?? turnView(turn, tells, draw);
  views.set(turn, view);
  return view;
}
