import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { toldApart, type Namer } from '../displayNames';
import type { TrainedBy } from '../localModels';

/** Knows the names that people see for models, and which of them runs have trained. */
export interface RunNamer extends Namer {
  runOf(agent: string): TrainedBy | undefined;
}

/** A run that trained agents of the log, which may have several names. */
interface PlayedRun extends TrainedBy {
  readonly agents: ReadonlySet<string>;
  readonly count: number;
}

interface AgentsByRun {
  /** Those with the most dialogues come first; equal names get the end of the run's id. */
  readonly runs: readonly PlayedRun[];
  readonly others: ReadonlySet<string>;
}

export function agentsByRun(
  log: Pick<TrajectoryLog, 'valuesOf'>,
  filter: TrajectoryFilter,
  namer: RunNamer,
): AgentsByRun {
  const byId = new Map<string, { name: string; agents: Set<string>; count: number }>();
  const others = new Set<string>();
  for (const { value, count } of log.valuesOf('agent', filter)) {
    const run = namer.runOf(value);
    if (run === undefined) {
      others.add(value);
      continue;
    }
    const known = byId.get(run.id) ?? { name: run.name, agents: new Set(), count: 0 };
    known.agents.add(value);
    known.count += count;
    byId.set(run.id, known);
  }
  const played = [...byId].map(([id, run]) => ({ id, ...run }));
  const runs = toldApart(played, ({ id, name }) => `${name} (${id.slice(-4)})`);
  return { runs: runs.sort((a, b) => b.count - a.count), others };
}

/** Returns the name of a run by its id; the id where none of these agents is its model. */
export function runCalled(id: string, agents: Iterable<string>, namer: RunNamer): string {
  for (const agent of agents) {
    const run = namer.runOf(agent);
    if (run?.id === id) return run.name;
  }
  return id;
}
