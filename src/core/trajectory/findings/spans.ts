import { lintSource } from '@secretlint/core';
import { creator as recommended } from '@secretlint/secretlint-rule-preset-recommend';

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
