import type { Grouping } from '../../core/evaluation/statistics';
import type { Collaborator } from '../../core/trajectory/event';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { Replay } from '../../../webview/replay/protocol';
import type { Called, ChoiceView, TurnView } from '../../../webview/session/protocol';

/*
 * Models are called by the names of their connections and runs wherever a person reads of them. What is logged and
 * exported keeps the names that the settings give them.
 */

/** Who knows what a person calls a model; one without such a name is called as the settings call it. */
export interface Namer {
  calledBy(name: string): string;
}

/** For a view that is told of these models, as it may be of candidates' only once their dialogue is over. */
export function calledOf(models: readonly string[], namer: Namer): Called {
  const pairs = [...new Set(models)].map((model) => [model, namer.calledBy(model)] as const);
  return Object.fromEntries(pairs.filter(([model, name]) => name !== model));
}

/** Whom turns name as they are shown: never people. */
export function modelsIn(turns: readonly TurnView[]): string[] {
  return turns.flatMap(({ choices = [], reply }) => [
    ...writersOf(choices),
    ...(reply?.seat === 'simulator' ? [reply.by] : []),
    ...(reply?.suggested === undefined ? [] : [reply.suggested.by]),
  ]);
}

/** Whom a replay names. */
export function modelsOf({ agent, collaborator, seat, turns, refused }: Replay): string[] {
  const handOvers = turns.flatMap((turn) => turn.handOvers.filter((to) => to.seat === 'simulator'));
  return [
    agent,
    ...(seat === 'simulator' ? [collaborator] : []),
    ...modelsIn(turns),
    ...handOvers.map(({ name }) => name),
    ...writersOf(refused),
  ];
}

const writersOf = (choices: readonly ChoiceView[]): string[] => choices.flatMap(({ agents = [] }) => agents);

/** A person keeps the pseudonym, whatever it reads like. */
export const collaboratorCalled = ({ kind, name }: Collaborator, namer: Namer): string =>
  kind === 'developer' ? name : namer.calledBy(name);

/** What is shown of a value that dialogues share. Of a collaborator the log knows whether a person bears the name. */
export function sharedCalled(
  value: string,
  of: Grouping,
  log: Pick<TrajectoryLog, 'count'> | undefined,
  namer: Namer,
): string {
  if (of === 'pack') return value;
  const called = namer.calledBy(value);
  if (of === 'agent' || called === value) return called;
  const bearers = log?.count({ collaborator: value, collaboratorKind: 'developer' }).total ?? 0;
  return bearers > 0 ? value : called;
}
