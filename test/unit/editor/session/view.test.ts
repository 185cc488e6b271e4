import { describe, expect, it } from 'vitest';
import type { ProgramTask } from '../../../../src/core/task/task';
import type { EventOf } from '../../../../src/core/trajectory/event';
import { AgentReading } from '../../../../src/core/dialogue/agentMessage';
import type { TestResult } from '../../../../src/core/grading/grade';
import { GrowingText } from '../../../../src/core/growingText';
import {
  agentStream,
  pageStream,
  simulatorStream,
  Streaming,
} from '../../../../src/editor/session/streaming';
import type { StreamView } from '../../../../webview/session/protocol';
import { gradeView, messageOf, taskView, turnView } from '../../../../src/editor/session/view';
import { taskTitle } from '../../../../src/core/task/title';
import { english } from '../translate';

const task: ProgramTask = {
  id: 'parcel-surcharge',
  description: 'Prices of parcels, please. The signature is: def price(kg, zone)',
  reference: 'def price(kg, zone):\n    return kg * zone',
  testCases: [
    { name: 'test1', call: 'price(1, 2)' },
    { name: 'test2', call: 'price(2, 2)' },
  ],
  hiddenInformation: 'none',
};

const said = (text: string): { agent: EventOf<'agent-turn'> } => ({
  agent: {
    ...{ event: 'agent-turn', version: 1, at: '2026-01-01T00:00:00.000Z', episode: 'e', turn: 1, text },
    ...{ finishReason: 'stop', model: 'script:x.json', sampling: { temperature: 1, maxTokens: 10 } },
  },
});

/** Returns the view of a partially received message. */
function streamOf(text: string, earlier: Parameters<typeof agentStream>[1]): ReturnType<typeof agentStream> {
  const reading = new AgentReading();
  reading.push(text);
  return agentStream(reading, earlier);
}

describe('a message', () => {
  it('is drawn only as far as somebody reads, and says how much is left', () => {
    const megabyte = 'x'.repeat(1_000_000);
    const { visible, thoughts, left } = turnView(said(`${megabyte}\nOUTPUT:\n${megabyte}`));
    expect(visible.length + thoughts.length + (left ?? 0)).toBe(2_000_000);
    expect(visible.length).toBeLessThan(100_000);
    expect(turnView(said('OUTPUT:\nHow?'))).not.toHaveProperty('left');
    const stream = streamOf(`OUTPUT:\n${megabyte}`, []);
    expect(stream.text.length + (stream.left ?? 0)).toBe(1_000_000);
    expect(stream.text.length).toBeLessThan(20_000);
    const replies = new GrowingText();
    replies.push(megabyte);
    const reply = simulatorStream(replies);
    expect(reply.text.length + (reply.left ?? 0)).toBe(1_000_000);
    expect(reply.text.length).toBeLessThan(20_000);
  });
});

describe('a message without words', () => {
  it('is said to be cut where the model used up its tokens before', () => {
    const cut = { agent: { ...said('').agent, finishReason: 'length' as const } };
    expect(turnView(cut)).toMatchObject({ visible: '', isCut: true });
    expect(turnView(said(''))).not.toHaveProperty('isCut');
    const spoken = { agent: { ...said('OUTPUT:\nHow?').agent, finishReason: 'length' as const } };
    expect(turnView(spoken)).not.toHaveProperty('isCut');
  });
});

describe('a task', () => {
  it('is titled by its spoken id, else by the function that it asks for', () => {
    expect(taskTitle(task)).toBe('Parcel surcharge');
    expect(taskTitle({ ...task, id: '3f2a9c0d11be77aa' })).toBe('Price');
    expect(taskTitle({ ...task, id: 'starter-development-3f2a9c0d11be' })).toBe('Price');
  });

  it('shows the signature at the end of its request as code', () => {
    expect(taskView(task, 'a.jsonl').description).toBe(
      'Prices of parcels, please. The signature is:\n```python\ndef price(kg, zone)\n```',
    );
  });

  it('leaves a request alone that has its own fences', () => {
    const description = 'Write\n```python\ndef price(kg)\n```\nplease';
    expect(taskView({ ...task, description }, undefined).description).toBe(description);
  });
});

describe('a turn', () => {
  it('keeps the thoughts apart from what the agent says', () => {
    expect(turnView(said('Hm.\nOUTPUT:\nHow heavy?'))).toMatchObject({
      thoughts: 'Hm.',
      visible: 'How heavy?',
      final: false,
    });
  });

  it('shows an answer without a fence as code, so that Markdown does not eat it', () => {
    const { visible, final } = turnView(said('OUTPUT:\nI WANT TO ANSWER:\ndef f(x):\n    return x * 2 * x'));
    expect(final).toBe(true);
    expect(visible).toBe('```python\ndef f(x):\n    return x * 2 * x\n```');
  });
});

describe('a message that is being written', () => {
  it('looks as the message that it is so far, its thoughts counted', () => {
    const whole = `<think>a</think>\n Hm. \nOUTPUT:\nHere:\nI WANT TO ANSWER:\ndef f(x):\n    return "\`\`\`"\n`;
    for (const text of [whole, whole.slice(0, -20), whole.slice(0, 40)]) {
      const { visible, thoughts } = messageOf(text);
      expect(streamOf(text, [])).toEqual({ by: 'agent', text: visible, thinking: thoughts.length });
    }
  });

  it('shows the end of the thoughts while nothing else has arrived', () => {
    const shown = streamOf(`${'Hm. '.repeat(500)}So be it.`, []);
    expect(shown).toMatchObject({ text: '', thinking: 2009 });
    expect(shown.thoughts).toMatch(/^… Hm\. .*So be it\.$/);
    expect(shown.thoughts!.length).toBeLessThan(1000);
  });

  it.each(['', 'Thoughts.\nOUTPUT:\n'])('shows the length of a page after %j, not its HTML', (before) => {
    const reading = new AgentReading();
    reading.push(`${before}A draft:\n\`\`\`html\n<html><p>Golden`);
    const { text, thoughts = '', page } = pageStream(reading, []);
    expect({ shown: text + thoughts, page }).toEqual({ shown: 'A draft:', page: '<html><p>Golden'.length });
  });

  it('says which attempt it is, and shows the earlier one, until text arrives', async () => {
    const streams: StreamView[] = [];
    const streaming = new Streaming((stream) => streams.push(stream));
    const asked = Promise.withResolvers<unknown>();
    const shown = streaming.show(GrowingText, simulatorStream, ({ onText, onRestart }) => {
      onText?.('Half');
      onRestart?.('It broke off.', { number: 2, of: 5, after: 'model/unreachable' });
      onText?.('Whole');
      return asked.promise;
    });
    await expect.poll(() => streams).toHaveLength(2);
    asked.resolve(undefined);
    await shown;
    expect(streams).toEqual([
      { by: 'simulator', text: 'Half', thinking: 0, retrying: { number: 2, of: 5, why: 'connection' } },
      { by: 'simulator', text: 'Whole', thinking: 0 },
    ]);
  });
});

describe('a grade', () => {
  it('says how many tests passed, and what each failing one gave', () => {
    const tests = [
      { status: 'passed', milliseconds: 1 },
      { status: 'error', type: 'KeyError', message: '3', line: 2 },
    ] as const;
    const view = gradeView(
      { task, turns: [] },
      { mode: 'fixed', reward: 0.5, success: false, tests },
      english,
    );
    expect(view.headline).toBe('1 of 2 tests passed');
    expect(view.tests[1]).toEqual({ call: 'price(2, 2)', status: 'error', got: 'KeyError: 3 (line 2)' });
  });

  it('of words says once that they are no code, not in every test', () => {
    const error: TestResult = { status: 'error', type: 'SyntaxError', message: 'invalid syntax', line: 1 };
    const failed = { mode: 'fixed' as const, reward: 0, success: false, tests: [error, error] };
    const view = (answer?: string) => gradeView({ task, turns: [], answer }, failed, english);
    expect(view('How heavy is a heavy parcel?').tests.map(({ got }) => got)).toEqual(['no code', 'no code']);
    for (const code of [undefined, 'def price(kg, zone) return 2', '```\nprice(\n```'])
      expect(view(code).tests[0]!.got).toBe('SyntaxError: invalid syntax (line 1)');
  });

  it('that could not be given is no zero', () => {
    const view = gradeView(
      { task, turns: [] },
      { mode: 'fixed', reward: null, success: null, tests: [], notGradable: 'numpy is missing here.' },
      english,
    );
    expect(view.headline).toContain('numpy is missing here.');
    expect(view.verdict).toBeUndefined();
  });
});
