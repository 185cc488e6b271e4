import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_VERSION, type LogEvent, type NewEvent } from '../../../src/core/trajectory/event';
import { encodeEvent, sealLine } from '../../../src/core/trajectory/segment/line';
import type { ProgramTask } from '../../../src/core/task/task';

const SEGMENT_BYTES = 64 * 1024 * 1024;
/** Dialogues that a collection plays at once, so that the lines of different episodes are interleaved. */
const IN_FLIGHT = 64;
const TASKS = 10_000;
const WORDS =
  'the a of should value list when returns negative empty rounded price order total limit days zone key index sum first last each before after zero whole'.split(
    ' ',
  );

/** Writes a log as collections do: segments of 64 MB, interleaved dialogues, one `task` line per task and segment. */
export async function generateLog(folder: string, trajectories: number): Promise<number> {
  const random = generator(7);
  const log = join(folder, 'log');
  await mkdir(log, { recursive: true });
  let time = Date.UTC(2026, 0, 1);
  let bytes = 0;
  let segment: ReturnType<typeof createWriteStream> | undefined;
  let segmentBytes = 0;
  let lines = 0;
  let known = new Set<string>();
  let count = 0;

  const write = async (event: NewEvent | Extract<LogEvent, { event: 'segment' }>): Promise<void> => {
    time += 3;
    const at = new Date(time).toISOString();
    const line = sealLine(encodeEvent({ ...event, version: LOG_VERSION, at }), (lines += 1));
    segmentBytes += line.length;
    bytes += line.length;
    if (!segment!.write(line)) await once(segment!, 'drain');
  };
  const begin = async (): Promise<void> => {
    if (segment && segmentBytes < SEGMENT_BYTES) return;
    if (segment) await end(segment);
    segment = createWriteStream(join(log, `segment-${String(count++).padStart(4, '0')}.jsonl`));
    segmentBytes = 0;
    lines = 0;
    known = new Set();
    const at = new Date(time).toISOString();
    await write({ version: LOG_VERSION, event: 'segment', at, segment: `segment-${count}` });
  };

  const inFlight: NewEvent[][] = [];
  let made = 0;
  while (made < trajectories || inFlight.length > 0) {
    while (inFlight.length < IN_FLIGHT && made < trajectories)
      inFlight.push(episode(made++, random).reverse());
    await begin();
    const chosen = Math.floor(random() * inFlight.length);
    const next = inFlight[chosen]!.pop()!;
    if (next.event === 'episode-started' && !known.has(next.task)) {
      known.add(next.task);
      await write({ event: 'task', task: taskOf(next.task, random) });
    }
    await write(next);
    if (inFlight[chosen]!.length === 0) inFlight.splice(chosen, 1);
  }
  await end(segment!);
  return bytes;
}

async function end(stream: ReturnType<typeof createWriteStream>): Promise<void> {
  stream.end();
  await once(stream, 'close');
}

function taskOf(id: string, random: () => number): ProgramTask {
  const reference = `def solve(values):\n    ${words(45, random)}\n    return values`;
  const testCases = Array.from({ length: 10 }, (_, index) => ({
    name: `test${index + 1}`,
    call: `solve([${Math.floor(random() * 100)}, ${Math.floor(random() * 100)}, 3])`,
  }));
  return { id, description: words(60, random), reference, testCases, hiddenInformation: reference };
}

/** Makes an episode of about five turns, with about 2.5 KB of text and as much again of other fields. */
function episode(number: number, random: () => number): NewEvent[] {
  const id = `${hex(8, random)}-${hex(4, random)}-4${hex(3, random)}-a${hex(3, random)}-${hex(12, random)}`;
  const task = `task-${String(Math.floor(random() * TASKS)).padStart(5, '0')}`;
  const turns = 3 + Math.floor(random() * 5);
  const events: NewEvent[] = [
    {
      event: 'episode-started',
      episode: id,
      task,
      pack: 'train.jsonl',
      agent: `openai:llama-3.1-8b-${number % 4}@http://127.0.0.1:8000/v1`,
      collaborator: { kind: 'simulator', name: 'openai:llama-3.1-70b@http://127.0.0.1:8001/v1' },
      protocol: { maxTurns: 10, replyLimit: 400 },
      prompts: { 'agent.md': hex(16, random), 'simulator.md': hex(16, random) },
      seed: number,
      rollout: number % 10,
      collection: `collection-${Math.floor(number / 20_000)}`,
    },
  ];
  for (let turn = 1; turn <= turns; turn += 1) {
    const isLast = turn === turns;
    events.push({
      event: 'agent-turn',
      episode: id,
      turn,
      text: `OUTPUT:\n${isLast ? 'I WANT TO ANSWER:\n' : ''}${words(isLast ? 90 : 45, random)}`,
      finishReason: 'stop',
      model: 'llama-3.1-8b',
      sampling: { temperature: 1, maxTokens: 1024, seed: number * 10 + turn },
      usage: { promptTokens: 300 * turn, completionTokens: 60 },
      timing: { firstTextMs: 120, totalMs: 1800, attempts: 1 },
    });
    if (isLast) break;
    events.push(
      {
        event: 'reply',
        episode: id,
        turn,
        text: words(35, random),
        author: 'simulator',
        by: 'llama-3.1-70b',
      },
      { event: 'leak', episode: id, turn, fraction: random() / 4, leaked: random() < 0.01 },
    );
  }
  if (random() < 0.03) {
    events.push({
      event: 'abandoned',
      episode: id,
      reason: 'failed',
      message: 'The server closed the connection.',
    });
    return events;
  }
  const passed = Math.floor(random() * 11);
  events.push(
    { event: 'answered', episode: id, turn: turns, answer: words(90, random), reason: 'answered' },
    {
      event: 'grade',
      episode: id,
      grade: {
        mode: 'fixed',
        reward: passed / 10,
        success: passed === 10,
        tests: Array.from({ length: 10 }, (_, index) =>
          index < passed
            ? { status: 'passed' as const, milliseconds: 1 }
            : { status: 'wrong' as const, expected: '12', got: '14', milliseconds: 1 },
        ),
      },
    },
  );
  return events;
}

function words(count: number, random: () => number): string {
  const chosen = Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]!);
  return chosen.join(' ');
}

function hex(length: number, random: () => number): string {
  return Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
}

/** Makes a linear congruential generator, which gives the same log on every machine. */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296;
}
