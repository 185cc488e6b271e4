import { createHash } from 'node:crypto';
import type { Consents } from '../consent';
import type { EventOf } from '../event';
import { developersOf, type Trajectory } from '../trajectory';
import { lintSource } from '@secretlint/core';
import { creator as recommended } from '@secretlint/secretlint-rule-preset-recommend';

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
    for (const { text } of agent.imported?.parts ?? []) sources.set(text, spoken);
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

export interface Span {
  readonly kind: 'secret' | 'e-mail address';
  /** Kind of secret, e.g. `github token`. */
  readonly what: string;
  /** Offsets in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Secrets that secretlint's recommended rules find, and e-mail addresses outside of them, in order of position. */
export async function spansIn(text: string): Promise<Span[]> {
  const secrets = await secretsIn(text);
  const isInside = (span: Span): boolean =>
    secrets.some(({ start, end }) => start <= span.start && span.end <= end);
  const addresses = addressesIn(text).filter((address) => !isInside(address));
  return [...secrets, ...addresses].sort((a, b) => a.start - b.start);
}

const rules = [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: recommended }];

async function secretsIn(text: string): Promise<Span[]> {
  const { messages } = await lintSource({
    // Some rules apply only to files with certain names; this name is treated as any text.
    source: { filePath: 'dialogue.txt', content: text, contentType: 'text' },
    options: { config: { rules }, locale: 'en', maskSecrets: true },
  });
  return messages.map(({ messageId, range: [start, end] }) => ({
    kind: 'secret',
    what: wordsOf(messageId),
    start,
    end: end + lengthOfWordAt(text, end),
  }));
}

/** Some rules start at the name before a secret and end too early, but a secret extends to the next white space. */
function lengthOfWordAt(text: string, at: number): number {
  return text.slice(at).search(/\s|$/);
}

/** A name such as `AWSSecretAccessKey` or `GITHUB_TOKEN` in lower-case words. */
function wordsOf(messageId: string): string {
  return messageId
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/**
 * A local part, then labels separated by dots, the last of letters. This excludes decorators and matrix products. Each
 * part is bounded, so that matching takes linear time.
 */
const ADDRESS =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}@])/gu;
/** Names that RFC 2606 and RFC 6761 reserve for examples, common in tests. */
const RESERVED = /(?:[@.]example\.(?:com|net|org)|\.(?:example|invalid|localhost|test))$/i;

function addressesIn(text: string): Span[] {
  return [...text.matchAll(ADDRESS)]
    .filter(([address]) => !RESERVED.test(address))
    .map(({ 0: address, index }) => ({
      kind: 'e-mail address',
      what: 'e-mail address',
      start: index,
      end: index + address.length,
    }));
}

/** Characters shown before a span and at its start; nothing after it is shown. */
const BEFORE = 24;
const SHOWN = 4;

/**
 * The text before a span on its line, and the span's first characters: its author recognises it, and no one else can
 * use it. Shows no text before a span that follows another one on its line.
 */
export function maskedExcerpt(text: string, spans: readonly Span[], { start, end }: Span): string {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const isFirst = spans.every((other) => other.end <= line || other.start >= start);
  const from = isFirst ? Math.max(line, start - BEFORE) : start;
  const shown = end - start > 4 * SHOWN ? text.slice(start, start + SHOWN) : '';
  return `${from > line ? '…' : ''}${text.slice(from, start)}${shown}•••`;
}
