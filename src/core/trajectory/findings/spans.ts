import { lintSource } from '@secretlint/core';
import { creator as recommended } from '@secretlint/secretlint-rule-preset-recommend';

/** A piece of a text that should not leave this machine unnoticed. */
export interface Span {
  readonly kind: 'secret' | 'e-mail address';
  /** Which secret, e.g. `github token`. */
  readonly what: string;
  /** Offsets in UTF-16 code units; `end` is behind the last. */
  readonly start: number;
  readonly end: number;
}

/** Secrets, as secretlint's recommended rules know them, and e-mail addresses outside of these, in their order. */
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
    // Some rules look at files of certain names only; this one is looked at as any text is.
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

/** Some rules begin their range at the name before a secret and end it too early: the secret goes on to a blank. */
function lengthOfWordAt(text: string, at: number): number {
  return text.slice(at).search(/\s|$/);
}

/** `AWSSecretAccessKey` and `GITHUB_TOKEN` as words. */
function wordsOf(messageId: string): string {
  return messageId
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/**
 * A local part of ordinary signs, then labels with a dot between them of which the last is of letters: neither a
 * decorator nor the product of two matrices. Each part is bounded, so that no text takes long.
 */
const ADDRESS =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}@])/gu;
/** Names that RFC 2606 and RFC 6761 keep for examples: nobody's address, and common in tests. */
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

/** So many characters before a span are shown, and of the span itself; of what follows, nothing. */
const BEFORE = 24;
const SHOWN = 4;

/**
 * What stands before a span on its line, and how it begins: enough to be recognised by who wrote it, and of no use to
 * anybody else. Nothing is shown before a span that follows another one on its line.
 */
export function maskedExcerpt(text: string, spans: readonly Span[], { start, end }: Span): string {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const isFirst = spans.every((other) => other.end <= line || other.start >= start);
  const from = isFirst ? Math.max(line, start - BEFORE) : start;
  const shown = end - start > 4 * SHOWN ? text.slice(start, start + SHOWN) : '';
  return `${from > line ? '…' : ''}${text.slice(from, start)}${shown}•••`;
}
