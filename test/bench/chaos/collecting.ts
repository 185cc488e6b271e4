import { starterPack } from '../../fixtures/dialogue';
import type { Findings } from './findings';
import { gradedOf, readLog, type LogText } from './reading';
import type { Victim, VictimPlan } from './victim';
import type { Life } from './findings';

export interface Collection {
  readonly plan: VictimPlan;
  readonly args: readonly string[];
  /** Its name in the log; unknown until a start has ended successfully. */
  name?: string;
}

/** Makes a `tandem collect`. Two with the same agent and seed want the same collection, which only one may hold. */
export function collection(
  name: string,
  {
    agent,
    seed,
    data,
    acknowledged,
  }: { agent: string; seed: number; data: string; acknowledged: Acknowledged },
): Collection {
  const args = [
    ...['collect', '--agent', agent, '--simulator', 'rules', '--tasks', starterPack, '--limit', '6'],
    ...['--seed', String(seed), '--data', data, '--jobs', '1', '--json'],
  ];
  const made: Collection = {
    args,
    plan: {
      name,
      next: () => [...args, '--rollouts', '10000'],
      worker: /grader\.js/,
      seconds: 20,
      parts: [/grader\.js/, ...(agent === 'starter' ? [/inference\.js/] : [])],
      after: async ({ stderr }) => {
        const log = await readLog(data);
        acknowledged.note(log);
        if (made.name !== undefined) acknowledged.expectTold(name, stderr, gradedOf(log, made.name).size);
      },
    },
  };
  return made;
}

/** Plays one dialogue, which reveals the name of the collection. */
export async function learnName(made: Collection, victim: Victim): Promise<void> {
  const { stdout, stderr } = await victim.undisturbed([...made.args, '--limit', '1']);
  made.name = (JSON.parse(stdout || '{}') as { summary?: { collection?: string } }).summary?.collection;
  if (made.name === undefined) throw new Error(`${victim.name} cannot begin: ${stderr}${stdout}`);
}

/** Completes a collection: all begun rollouts, and an equal number for all tasks. */
export async function finish(
  made: Collection,
  victim: Victim,
  data: string,
  findings: Findings,
): Promise<number> {
  const begun = [...(await readLog(data)).episodes.values()].filter((told) => told.collection === made.name);
  const rollouts = 1 + Math.max(0, ...begun.map(({ rollout }) => Number(rollout.split('#').at(-1))));
  const life = await victim.undisturbed([...made.args, '--rollouts', String(rollouts)]);
  findings.ended(victim.name, life);
  const { done, total } = summaryOf(life);
  const graded = gradedOf(await readLog(data), made.name!).size;
  if (life.code !== 0 || done !== total || graded !== total)
    findings.violation(
      victim.name,
      `undisturbed it ended with ${life.code}: ${done} of ${total}, and the log has ${graded}: ${life.stderr.slice(-400)}`,
    );
  return graded;
}

function summaryOf({ stdout }: Life): { done?: number; total?: number } {
  return (JSON.parse(stdout || '{}') as { summary?: { done?: number; total?: number } }).summary ?? {};
}

/** Data that was in the log once, or that a command reported; none of it may be missing later. */
export class Acknowledged {
  /** Grades by dialogue. */
  readonly #grades = new Map<string, string>();

  constructor(private readonly findings: Findings) {}

  get size(): number {
    return this.#grades.size;
  }

  note({ episodes, unreadable }: LogText): void {
    for (const { episode, grades } of episodes.values())
      if (grades.length > 0 && !this.#grades.has(episode)) this.#grades.set(episode, grades[0]!);
    if (unreadable.length > 0)
      this.findings.violation('log', `lines that are no JSON: ${unreadable.join(', ')}`);
  }

  /** @param stderr text with a command's number of finished dialogues @param found number in the log */
  expectTold(who: string, stderr: string, found: number): void {
    const told = Number([...stderr.matchAll(/collect: (\d+)\/\d+ dialogues/g)].at(-1)?.[1] ?? 0);
    if (found < told)
      this.findings.violation(who, `it said ${told} dialogues were done, and the log has ${found}`);
  }

  /** Expects all acknowledged data in the log, and each dialogue once. */
  expectAll(log: LogText): void {
    for (const [episode, grade] of this.#grades)
      if (log.episodes.get(episode)?.grades[0] !== grade)
        this.findings.violation('log', `the grade of ${episode} is gone or another: ${grade.slice(0, 200)}`);
    const rollouts = new Map<string, string[]>();
    for (const told of log.episodes.values()) {
      const { episode, collection, rollout, answered, grades, turns, replies } = told;
      if (collection !== undefined) {
        const key = `${collection} ${rollout}`;
        rollouts.set(key, [...(rollouts.get(key) ?? []), episode]);
      }
      if (answered > 1 || grades.length > 1 || isRepeated(turns) || isRepeated(replies))
        this.findings.violation(
          'log',
          `something of ${episode} happened twice: ${JSON.stringify(told).slice(0, 600)}`,
        );
    }
    for (const [key, episodes] of rollouts)
      if (episodes.length > 1)
        this.findings.violation('log', `${key} was begun ${episodes.length} times: ${episodes.join(', ')}`);
  }
}

const isRepeated = (turns: readonly number[]): boolean => new Set(turns).size < turns.length;
