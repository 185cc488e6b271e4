import type { Grouping } from '../core/evaluation/statistics';
import type { Collaborator } from '../core/trajectory/event';
import type { TrajectoryLog } from '../core/trajectory/log';
import { shortened } from '../../webview/dialogue/protocol';
import type { Replay } from '../../webview/replay/protocol';
import type { ModelNames, ChoiceView, TurnView } from '../../webview/session/protocol';
import type { Translate } from './translate';

/** Views show names of connections and runs; logs and exports keep the names of the settings. */

export interface Namer {
  calledBy(name: string): string;
}

/** Candidates' models are revealed only after their dialogue. */
export function calledOf(models: readonly string[], namer: Namer): ModelNames {
  const pairs = [...new Set(models)].map((model) => [model, namer.calledBy(model)] as const);
  return Object.fromEntries(pairs.filter(([model, name]) => name !== model));
}

export function modelsIn(turns: readonly TurnView[]): string[] {
  return turns.flatMap(({ choices = [], reply }) => [
    ...writersOf(choices),
    ...(reply?.seat === 'simulator' ? [reply.by] : []),
    ...(reply?.suggested === undefined ? [] : [reply.suggested.by]),
  ]);
}

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

/** A person keeps the pseudonym, even if it reads like a model's name. */
export const collaboratorCalled = ({ kind, name }: Collaborator, namer: Namer, t: Translate): string =>
  kind === 'developer' ? name : simulatorCalled(name, namer, t);

export function collaboratorWords(collaborator: Collaborator, namer: Namer, t: Translate): string {
  const name = collaboratorCalled(collaborator, namer, t);
  return collaborator.kind === 'rules' ? name : `${name} (${collaborator.kind})`;
}

export const simulatorCalled = (name: string, namer: Namer, t: Translate): string =>
  name === 'rules' ? t('Simulator (rules)') : namer.calledBy(name);

/** The log knows if a collaborator's name is a person's. */
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

/** Short names; two equal ones are replaced by the full ones. */
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

export function toldApart<Thing extends { readonly name: string }>(
  things: readonly Thing[],
  fuller: (thing: Thing) => string,
): Thing[] {
  const bearers = Map.groupBy(things, ({ name }) => name);
  return things.map((thing) =>
    bearers.get(thing.name)!.length === 1 ? thing : { ...thing, name: fuller(thing) },
  );
}
