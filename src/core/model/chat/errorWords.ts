import { isObject, isTooDeep, jsonOrUndefined } from '../../json';
import { waitIn } from '../../retryAfter';

/**
 * What a server's error says in words. Statuses alone do not tell it: the same error comes as 400, 413, 422, 429 or 500,
 * or with none inside a stream.
 */
export type Complaint =
  'no-credit' | 'too-long' | 'too-large' | 'filtered' | 'unknown-model' | 'wrong-key' | 'rate-limit';

/**
 * @returns `said`: the message, with the code and parameter that the server names; `named`: its further names for the
 * error, which do not help a reader
 */
export function errorWords(body: unknown): { said: string; named: string } {
  const said = messageIn(body) || JSON.stringify(body);
  if (!isObject(body)) return { said: Array.isArray(body) ? said : String(body), named: '' };
  const { param, code, type, status, details } = body;
  const unsaid = (parts: readonly unknown[]): string[] =>
    parts.filter((part) => typeof part === 'string' && part !== '' && !said.includes(part)) as string[];
  const shown = unsaid([param, code]);
  const hidden = unsaid([type, status]);
  if (Array.isArray(details)) hidden.push(...details.filter(isObject).flatMap(detailNames));
  return { said: shown.length > 0 ? `${said} [${shown.join(', ')}]` : said, named: hidden.join(' ') };
}

/** Google's details: the reason, and how long to wait. */
const detailNames = ({ reason, retryDelay }: Readonly<Record<string, unknown>>): string[] => [
  ...(typeof reason === 'string' ? [reason] : []),
  ...(typeof retryDelay === 'string' ? [`retry in ${retryDelay}`] : []),
];

function messageIn(body: unknown): string {
  if (typeof body === 'string') return body;
  if (Array.isArray(body))
    return body
      .map(messageIn)
      .filter((text) => text !== '')
      .join('; ');
  if (!isObject(body)) return '';
  if (Array.isArray(body.loc)) return locatedMessage(body);
  const { message, msg, detail, error, errors, error_description, error_msg, metadata } = body;
  const found = [message, msg, detail, error, errors, error_description, error_msg].map(messageIn);
  const said = found.find((text) => text !== '') ?? '';
  // OpenRouter's own message says only that the provider behind it returned an error.
  const raw = isObject(metadata) ? providerMessage(metadata.raw) : '';
  return raw === '' || said.includes(raw) ? said : `${said}: ${raw}`;
}

/** FastAPI's, which also repeats the request's own text. */
function locatedMessage({ loc, msg, type }: Readonly<Record<string, unknown>>): string {
  return `${(loc as unknown[]).join('.')}: ${messageIn(msg)} (${messageIn(type)})`;
}

function providerMessage(raw: unknown): string {
  const value = typeof raw === 'string' ? (jsonOrUndefined(raw) ?? raw) : raw;
  return isTooDeep(value) ? '' : messageIn(value);
}

/** The status of an error inside a stream, where it names one. */
export function statusIn(body: unknown): number | undefined {
  if (!isObject(body)) return undefined;
  const named = [body.code, body.status, body.status_code, body.error_code].map(Number);
  return named.find((status) => Number.isInteger(status) && status >= 400 && status < 600);
}

const MAX_WORDS_CHARS = 4000;

const NO_CREDIT =
  /insufficient[ _-](?:quota|credit|balance|funds|user[ _]quota)|credit[ _]balance|billing_(?:hard_limit|not_active)|payment[ _]required|balance (?:is )?(?:not enough|insufficient|too low)|arrearage|AccountOverdue|余额不足|欠费|out of (?:credits?|funds)\b|top[ -]?up (?:your|the) (?:account|balance)/i;

/** Words that servers also write when a limit per minute is used up, and then they say when to come back. */
const PERHAPS_NO_CREDIT =
  /exceeded[ _](?:your[ _])?current[ _]quota|\b(?:no|any|not enough|more|available|included|monthly|enough) credits?\b|credits? (?:exhausted|limit|are used up)|spend(?:ing)? limit|hard limit has been reached/i;

/** The same at statuses of a quota. */
const OF_BILLING = /billing/i;

const RATE =
  /rate[ _-]?limit|too many requests|too many tokens, please wait|(?:tokens|requests|token|request)[ _]per[ _-](?:min|day|hour|sec)|per[ -]minute|throttl|RESOURCE_EXHAUSTED|slow down/i;

const TOO_LARGE = /request too large/i;

const TOO_LONG: readonly RegExp[] = [
  /context_(?:length|window)_exceeded|ContextWindowExceeded|exceed_context_size|model_max_prompt_tokens_exceeded/i,
  /(?:exceed|longer than|larger than|greater than|too large|too long|maximum|max|reached|overflow)[^\n]{0,80}context[ _-]?(?:length|size|window|limit)/i,
  /context[ _-]?(?:length|size|window|limit)[^\n]{0,40}(?:exceed|overflow|too (?:small|short)|reached)/i,
  /(?:prompt|input|message)s?\b[^\n]{0,40}(?:too long|(?:token|length|count)[^\n]{0,30}exceed|exceeds? (?:max length|token limit))/i,
  /maximum (?:model|prompt|allowed) length|model token limit|max_new_tokens` must be <=|must have less than \d+ tokens/i,
  /max_model_len\b|range of input length|number of tokens[^\n]{0,40}exceed/i,
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
];

const FILTERED =
  /content[ _](?:filter|policy)|content exists risk|content management policy|ResponsibleAIPolicy|response (?:was|got) filtered|data_?inspection_?failed|PROHIBITED_CONTENT|requires moderation|(?:flagged|blocked) (?:by|for|as)[^\n]{0,40}(?:moderation|safety|policy|content|guardrail)/i;

const UNKNOWN_MODEL =
  /model_not_(?:found|exist|supported|available)|DeploymentNotFound|\b(?:invalid|unknown|no such) model\b|not a valid model|\bmodels?[\s:/"'`]{1,3}[^\s]{0,120}\s?(?:is |was |could )?(?:not (?:be )?found|does not exist|doesn't exist|not exist)/i;

const WRONG_KEY =
  /(?:invalid|incorrect|wrong|missing|no|expired)[ _]api[ _-]?key|api[ _-]?key\b[^\n]{0,30}(?:not valid|invalid|expired|missing|required|not found|incorrect)|API_KEY_INVALID|authentication_error|AuthenticationError|invalid_authentication/i;

/** Undefined where only the status tells. */
export function complaintIn(all: string, status: number | undefined): Complaint | undefined {
  const words = all.slice(0, MAX_WORDS_CHARS);
  if (status === 402 || NO_CREDIT.test(words)) return 'no-credit';
  if (TOO_LARGE.test(words)) return 'too-large';
  const isRate = RATE.test(words);
  if (!isRate && TOO_LONG.some((form) => form.test(words))) return 'too-long';
  const isOfQuota = status === undefined || [403, 412, 429].includes(status);
  const isPerhaps = PERHAPS_NO_CREDIT.test(words) || (isOfQuota && OF_BILLING.test(words));
  if (isPerhaps && waitIn(words) === undefined) return 'no-credit';
  const isOfClient = status === undefined || (status < 500 && status !== 429);
  if (isOfClient && FILTERED.test(words)) return 'filtered';
  if (isOfClient && UNKNOWN_MODEL.test(words)) return 'unknown-model';
  if (isOfClient && WRONG_KEY.test(words)) return 'wrong-key';
  const isSure = status === 401 || status === 404 || status === 413 || status === 501;
  return status === 429 || (isRate && !isSure) ? 'rate-limit' : undefined;
}
