import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { Fault, messageOf } from '../fault';
import { isUnfit, MB, readTextSync } from '../regularFile';
import type { ChatMessage, GenerateOptions, Generation, Model, SamplingSettings } from './model';

const turnList = z.array(z.string()).min(1);

/** For every task, or keyed by a part of the task's description, with `*` for all others. */
const turnsSchema = z.union([turnList, z.record(z.string(), turnList)]);

const fileSchema = z.union([
  z.strictObject({
    turns: turnsSchema,
    delayMilliseconds: z.int().min(0).max(600_000).default(0),
  }),
  turnsSchema.transform((turns) => ({ turns, delayMilliseconds: 0 })),
]);

type Script = z.infer<typeof fileSchema>;

const PIECES = 4;

export class ScriptModel implements Model {
  readonly name: string;
  readonly fingerprint: string;
  readonly #file: string;
  readonly #script: Script;

  /** @throws {Fault} `model/bad-script` if the file cannot be read or has another form */
  constructor(file: string) {
    this.name = `script:${file}`;
    this.#file = file;
    this.#script = readScript(file);
    this.fingerprint = createHash('sha256').update(JSON.stringify(this.#script)).digest('hex').slice(0, 12);
  }

  async generate(
    messages: readonly ChatMessage[],
    _sampling: SamplingSettings,
    options: GenerateOptions = {},
  ): Promise<Generation> {
    const started = performance.now();
    let firstTextMs: number | undefined;
    const turn = this.#turn(messages, options.position);
    let text = '';
    for (const piece of pieces(turn)) {
      await this.#pause(options.signal);
      firstTextMs ??= performance.now() - started;
      text += piece;
      options.onText?.(piece);
      if (options.enough?.() === true) break;
    }
    return {
      text,
      finishReason: text === turn ? 'stop' : 'other',
      timing: { firstTextMs, totalMs: performance.now() - started, attempts: 1 },
    };
  }

  /** Repeats the last turn if the script has no more. */
  #turn(messages: readonly ChatMessage[], position: GenerateOptions['position']): string {
    const description = position?.description ?? messages.map(({ content }) => content).join('\n');
    const turns = turnsFor(this.#script.turns, description);
    if (!turns)
      throw new Fault(
        'model/bad-script',
        `The script ${this.#file} has no turns for the task "${description.slice(0, 80)}". Add a key that is part of its description, or "*".`,
      );
    const index = position ? position.turn - 1 : messages.filter(({ role }) => role === 'assistant').length;
    return turns[Math.min(Math.max(index, 0), turns.length - 1)]!;
  }

  async #pause(signal: AbortSignal | undefined): Promise<void> {
    const { delayMilliseconds } = this.#script;
    // Rejects only when it is aborted.
    if (delayMilliseconds > 0) await sleep(delayMilliseconds, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted) throw new DOMException('The scripted turn was cancelled.', 'AbortError');
  }
}

function turnsFor(turns: Script['turns'], description: string): readonly string[] | undefined {
  if (Array.isArray(turns)) return turns;
  const key = Object.keys(turns).find((part) => part !== '*' && description.includes(part));
  return turns[key ?? '*'];
}

const MAX_SCRIPT_BYTES = 16 * MB;

function readScript(file: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(readTextSync(file, MAX_SCRIPT_BYTES));
  } catch (error) {
    if (isUnfit(error)) throw error;
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const what = missing ? 'does not exist' : `cannot be read (${messageOf(error)})`;
    throw new Fault('model/bad-script', `The script ${file} ${what}. It must be a JSON file of turns.`, {
      cause: error,
    });
  }
  const script = fileSchema.safeParse(value);
  if (script.success) return script.data;
  throw new Fault(
    'model/bad-script',
    `The script ${file} is not in the form of a script. Write a list of turns ["…", "…"], or {"part of a task": ["…"], "*": ["…"]}, or {"turns": either of them, "delayMilliseconds": 0}.`,
    { cause: script.error },
  );
}

/** Never splits a character. */
function pieces(text: string): string[] {
  const characters = Array.from(text);
  const length = Math.max(1, Math.ceil(characters.length / PIECES));
  const result: string[] = [];
  for (let at = 0; at < characters.length; at += length)
    result.push(characters.slice(at, at + length).join(''));
  return result;
}
