import { describe, expect, it } from 'vitest';
import { taskTitle } from '../../../src/core/task/title';
import type { EventOf } from '../../../src/core/trajectory/event';
import { taskView, turnView } from '../../../src/views/turnView';
import { parcelSurcharge as task } from '../../fixtures/parcel-task';

const said = (text: string): { agent: EventOf<'agent-turn'> } => ({
  agent: {
    ...{ event: 'agent-turn', version: 1, at: '2026-01-01T00:00:00.000Z', episode: 'e', turn: 1, text },
    ...{ finishReason: 'stop', model: 'script:x.json', sampling: { temperature: 1, maxTokens: 10 } },
  },
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
