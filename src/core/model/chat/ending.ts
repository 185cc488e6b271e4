import type { Generation } from '../model';

/** How a message ended; `docs/models.md` lists which words of servers mean what. */
export type Ending = Generation['finishReason'] | 'filtered' | 'unfinished' | 'unknown';

/** Without their case, underscores and the like. Every other word means that the message is not finished, too. */
const ENDINGS: Readonly<Record<Exclude<Ending, 'unknown'>, readonly string[]>> = {
  stop: [
    ...['stop', 'stopped', 'stopsequence', 'stopstr', 'stopword', 'stoptoken', 'eos', 'eostoken', 'endturn'],
    ...['endofturn', 'endoftext', 'end', 'finish', 'finished', 'complete', 'completed', 'done', 'success'],
  ],
  length: [
    ...['length', 'maxtokens', 'maxlength', 'maxnewtokens', 'maxoutputtokens', 'maxcompletiontokens'],
    ...['modellength', 'tokenlimit', 'contextlength', 'modelcontextwindowexceeded'],
  ],
  // Tandem offers no tools, so there is nothing to go on with.
  other: ['toolcalls', 'toolcall', 'tooluse', 'functioncall'],
  unfinished: [
    ...['error', 'failed', 'abort', 'aborted', 'cancel', 'canceled', 'cancelled', 'timeout', 'networkerror'],
    'insufficientsystemresource',
  ],
  filtered: [
    ...[
      'contentfilter',
      'contentfiltered',
      'filtered',
      'safety',
      'recitation',
      'blocklist',
      'spii',
      'sensitive',
    ],
    ...['prohibitedcontent', 'refusal', 'guardrailintervened', 'moderation'],
  ],
};

const BY_WORD = new Map(
  Object.entries(ENDINGS).flatMap(([ending, words]) =>
    words.map((word) => [word, ending as Ending] as const),
  ),
);

/** Undefined where the server names none yet, as by Ollama's empty text in every chunk. */
export function reasonIn(value: unknown): string | undefined {
  // SGLang's own form is {"type": "stop", "matched": …}.
  if (typeof value === 'object' && value !== null && 'type' in value) return reasonIn(value.type);
  if (value == null || value === false) return undefined;
  const reason = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  return /^(?:null|none|)$/i.test(reason) ? undefined : reason;
}

export function endingOf(reason: string | undefined): Ending {
  return reason === undefined ? 'unknown' : (BY_WORD.get(wordOf(reason)) ?? 'unfinished');
}

/** True for a reason that no later one takes back. */
export function isFailure(reason: string): boolean {
  const ending = BY_WORD.get(wordOf(reason));
  return ending === 'unfinished' || ending === 'filtered';
}

/** `FINISH_REASON_MAX_TOKENS` and `max-tokens` are one word. */
const wordOf = (reason: string): string =>
  reason
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/^finishreason/, '');
