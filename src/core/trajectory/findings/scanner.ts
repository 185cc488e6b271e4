import { createHash } from 'node:crypto';
import type { Consents } from '../consent';
import type { EventOf } from '../event';
import { developersOf } from '../people';
import type { Trajectory } from '../trajectory';
import { maskedExcerpt, spansIn, type Span } from './spans';

/** A secret or an e-mail address in what would be written. The secret itself is not in it. */
export interface Finding {
  /** The line of the file, from 1, where it first stands; absent when the dialogue is left out because of it. */
  readonly row?: number;
  /** The first trajectory that has it. */
  readonly episode: string;
  /** The agent's turn, from 1, that it stands in or in the reply to; absent outside of the turns. */
  readonly turn?: number;
  readonly author: Author;
  /** Model, pseudonym, or the task's id; empty where nobody is known to have written it. */
  readonly by: string;
  readonly kind: Span['kind'];
  /** Which secret, e.g. `github token`. */
  readonly what: string;
  /** One line, masked. */
  readonly excerpt: string;
}

/** `other`: the opening message, made of prompt and task, and the names of models and packs. */
export type Author = EventOf<'reply'>['author'] | 'agent' | 'task' | 'consent' | 'other';

type Source = Pick<Finding, 'turn' | 'author' | 'by'>;

/** Goes through what is exported, trajectory by trajectory, and lists each finding once. */
export class Scanner {
  readonly findings: Finding[] = [];
  /** Hashes, so that no secret is kept. */
  private readonly listed = new Set<string>();
  private readonly scanned = new Set<string>();

  constructor(private readonly consents: Consents) {}

  /**
   * @param written what the file would hold of the trajectory: every text in it is looked at
   * @returns whether there is anything in it; false also for a trajectory that was scanned before
   */
  async scan(trajectory: Trajectory, written: object, row?: number): Promise<boolean> {
    if (this.scanned.has(trajectory.id)) return false;
    this.scanned.add(trajectory.id);
    const sources = sourcesOf(trajectory, this.consents);
    const all = new Set([...this.purposesOf(trajectory), ...textsOf(written)]);
    // Texts that nobody is known to have written come last: most repeat one of the others.
    const texts = [...all].sort((a, b) => Number(sources.has(b)) - Number(sources.has(a)));
    // In one pass: secretlint has some cost for each text.
    const joined = [...texts].join(BETWEEN);
    const spans = await spansIn(joined);
    let end = -BETWEEN.length;
    let next = 0;
    const values = new Set<string>();
    for (const text of texts) {
      const begin = end + BETWEEN.length;
      end = begin + text.length;
      for (; next < spans.length && spans[next]!.start < end; next += 1) {
        const span = spans[next]!;
        const value = joined.slice(span.start, span.end);
        const source = sources.get(text) ?? { author: 'other', by: '' };
        const isRepeated = source.author === 'other' && values.has(value);
        values.add(value);
        if (isRepeated || this.wasListed(trajectory.id, source, value)) continue;
        const { kind, what } = span;
        const excerpt = maskedExcerpt(joined, spans, span);
        const where = row === undefined ? {} : { row };
        this.findings.push({ ...where, episode: trajectory.id, ...source, kind, what, excerpt });
      }
    }
    return spans.length > 0;
  }

  /** They stand in the dataset card. */
  private purposesOf(trajectory: Trajectory): string[] {
    return [...developersOf(trajectory)].flatMap((pseudonym) => this.consents.of(pseudonym)?.purpose ?? []);
  }

  /** Tasks, consents and names are listed once for all the trajectories that have them. */
  private wasListed(episode: string, { turn, author, by }: Source, value: string): boolean {
    const of = turn === undefined ? [author, by] : [author, episode, turn];
    const key = createHash('sha256')
      .update(JSON.stringify([of, value]))
      .digest('base64');
    if (this.listed.has(key)) return true;
    this.listed.add(key);
    return false;
  }
}

const BETWEEN = '\n\n';

/** Who wrote the texts that an export of a trajectory may hold. */
function sourcesOf({ task, turns, answer, ...rest }: Trajectory, consents: Consents): Map<string, Source> {
  const sources = new Map<string, Source>();
  for (const text of textsOf(task)) sources.set(text, { author: 'task', by: task.id });
  for (const { agent, reply } of turns) {
    const spoken: Source = { turn: agent.turn, author: 'agent', by: agent.model };
    for (const text of [agent.text, agent.reasoning]) if (text !== undefined) sources.set(text, spoken);
    if (answer?.turn === agent.turn) sources.set(answer.answer, spoken);
    if (reply === undefined) continue;
    const { turn, author, by, suggestion } = reply;
    if (suggestion !== undefined) sources.set(suggestion, { turn, author: 'simulator', by: '' });
    for (const text of [reply.text, reply.fullText]) {
      if (text !== undefined) sources.set(text, { turn, author, by });
    }
  }
  for (const pseudonym of developersOf({ task, turns, ...rest })) {
    const consent: Source = { author: 'consent', by: pseudonym };
    sources.set(pseudonym, consent);
    sources.set(consents.of(pseudonym)?.purpose ?? pseudonym, consent);
  }
  return sources;
}

/** Every text in a row, however deep. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* textsOf(each);
}
