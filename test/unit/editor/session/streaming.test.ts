import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../../../src/core/trajectory/event';
import { AgentReading } from '../../../../src/core/dialogue/agentMessage';
import { GrowingText } from '../../../../src/core/growingText';
import {
  agentStream,
  pageStream,
  simulatorStream,
  Streaming,
} from '../../../../src/editor/session/streaming';
import type { StreamView } from '../../../../webview/session/protocol';
import { messageOf, turnView } from '../../../../src/views/turnView';

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
