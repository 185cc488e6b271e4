import type { Grouping } from '../../core/evaluation/statistics';
import type { Collaborator } from '../../core/trajectory/event';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { shortened } from '../../../webview/dialogue/protocol';
import type { Replay } from '../../../webview/replay/protocol';
import type { ModelNames, ChoiceView, TurnView } from '../../../webview/session/protocol';

/*
 * People read of models by the names of their connections and runs. What is logged and exported keeps the names that
 * the settings give them.
 */

/** Knows the names that people see for models; a model without one keeps its name in the settings. */
export interface Namer {
  calledBy(name: string): string;
}

/**
 * Returns the names for a view that may know these models; candidates' models are revealed after their dialogue only.
 */
export function calledOf(models: readonly string[], namer: Namer): ModelNames {
  const pairs = [...new Set(models)].map((model) => [model, namer.calledBy(model)] as const);
  return Object.fromEntries(pairs.filter(([model, name]) => name !== model));
}

/** Returns the models named in turns, without people. */
export function modelsIn(turns: readonly TurnView[]): string[] {
  return turns.flatMap(({ choices = [], reply }) => [
    ...writersOf(choices),
    ...(reply?.seat === 'simulator' ? [reply.by] : []),
    ...(reply?.suggested === undefined ? [] : [reply.suggested.by]),
  ]);
}

/** Returns the models named in a replay. */
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

/** Returns the shown name of a collaborator; a person keeps the pseudonym, whatever it reads like. */
export const collaboratorCalled = ({ kind, name }: Collaborator, namer: Namer): string =>
  kind === 'developer' ? name : namer.calledBy(name);

/**
 * Returns the shown form of a value that dialogues share. For a collaborator, the log tells whether a person has the
 * name.
 */
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

/** Returns the short names of values that dialogues share; two that would have the same one keep their own. */
export function namesOf(
  values: readonly string[],
  of: Grouping,
  log: Pick<TrajectoryLog, 'count'> | undefined,
  namer: Namer,
): ReadonlyMap<string, string> {
  const short = values.map((value) => {
    const called = sharedCalled(value, of, log, namer);
    return { value, name: of === 'pack' ? called : shortened(called) };
  });
  return new Map(toldApart(short, ({ value }) => value).map(({ value, name }) => [value, name] as const));
}

/** Gives things that share a name a fuller one each. */
export function toldApart<Thing extends { readonly name: string }>(
  things: readonly Thing[],
  fuller: (thing: Thing) => string,
): Thing[] {
  const bearers = Map.groupBy(things, ({ name }) => name);
  return things.map((thing) =>
    bearers.get(thing.name)!.length === 1 ? thing : { ...thing, name: fuller(thing) },
  );
}
