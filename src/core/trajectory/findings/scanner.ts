import { createHash } from 'node:crypto';
import type { Consents } from '../consent';
import type { EventOf } from '../event';
import { developersOf, type Trajectory } from '../trajectory';
import { maskedExcerpt, spansIn, type Span } from './spans';

/** The secret itself is not stored. */
export interface Finding {
  /** First line of the file that contains it, from 1; absent if the dialogue is left out because of it. */
  readonly row?: number;
  readonly episode: string;
  /** Number of the agent's turn, from 1; absent outside of the turns. */
  readonly turn?: number;
  readonly author: Author;
  /** Model, pseudonym, or the task's id; empty if the author is unknown. */
  readonly by: string;
  readonly kind: Span['kind'];
  /** Kind of secret, e.g. `github token`. */
  readonly what: string;
  readonly excerpt: string;
}

/** `other`: the opening message, made of prompt and task, and the names of models and packs. */
export type Author = EventOf<'reply'>['author'] | 'agent' | 'task' | 'consent' | 'other';

type Source = Pick<Finding, 'turn' | 'author' | 'by'>;

export class Scanner {
  readonly findings: Finding[] = [];
  /** Hashes of listed findings, so that no secret is kept. */
  private readonly listed = new Set<string>();
  private readonly scanned = new Set<string>();

  constructor(private readonly consents: Consents) {}

  /**
   * @param written all that the file would contain of the trajectory; every text in it is scanned
   * @returns true if anything was found; false also for a trajectory that was scanned before
   */
  async scan(trajectory: Trajectory, written: object, row?: number): Promise<boolean> {
    if (this.scanned.has(trajectory.id)) return false;
    this.scanned.add(trajectory.id);
    const sources = sourcesOf(trajectory, this.consents);
    const all = new Set([...this.purposesOf(trajectory), ...textsOf(written)]);
    // Texts without a known author come last: most of them repeat one of the others.
    const texts = [...all].sort((a, b) => Number(sources.has(b)) - Number(sources.has(a)));
    // All texts are scanned in one pass, because secretlint has a fixed cost per call.
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

  /** The dataset card will quote them. */
  private purposesOf(trajectory: Trajectory): string[] {
    return [...developersOf(trajectory)].flatMap((pseudonym) => this.consents.of(pseudonym)?.purpose ?? []);
  }

  /** Tasks, consents and names count once for all trajectories. */
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
    for (const text of [reply.text, reply.fullText, ...(reply.pins ?? []).map(({ words }) => words)]) {
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

export function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* textsOf(each);
}
