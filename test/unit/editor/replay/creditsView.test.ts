import { describe, expect, it } from 'vitest';
import type { Credit } from '../../../../src/core/training/credit/credit';
import type { Critic } from '../../../../src/core/training/credit/critics';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import type { Trajectory } from '../../../../src/core/trajectory/trajectory';
import { creditsView } from '../../../../src/editor/replay/view';
import { dialogue, verdict } from '../../../fixtures/log';
import { folded } from '../folded';
import { english } from '../translate';

const critic = { id: 'critic-1', unit: 'nats-per-token', folder: '/runs/one/critic' } as Critic;
const place = { folder: '/runs/one/critic', name: 'one' };

const credit = (first: number, second: number): Credit => ({
  version: 1,
  episode: 'a',
  critic: 'critic-1',
  of: 'digest',
  unit: 'nats-per-token',
  turns: [
    { turn: 1, advantage: first, untrained: 0.1 },
    { turn: 2, advantage: second, untrained: null },
  ],
});

const trajectory = (...more: NewEvent[]): Trajectory => folded(...dialogue('a', 1), ...more);

describe('the credit in a replay', () => {
  it('offers to choose a critic, then to score what that has not read, unless it cannot be read', () => {
    const shown = (known: Parameters<typeof creditsView>[0]) =>
      creditsView(known, [trajectory()], { own: 'kim' }, english);
    expect(shown(undefined)).toMatchObject({ episodes: ['a'], canScore: false, credits: [null] });
    expect(shown({ place, critic, credits: [undefined] })).toMatchObject({ canScore: true, credits: [null] });
    const problem = 'It is gone.';
    expect(shown({ place, problem, credits: [undefined] })).toMatchObject({ canScore: false, problem });
  });

  it('has one scale for all dialogues that are shown, the control included', () => {
    const both = [trajectory(), trajectory()];
    const known = { place, critic, credits: [credit(0.02, -0.05), credit(0.03, 0.01)] };
    const shown = creditsView(known, both, { own: 'kim' }, english);
    expect(shown.critic).toMatchObject({ scale: 0.1, unit: 'nats/token' });
    expect(shown.canScore).toBe(false);
  });

  it('says that credit without a critic has neither a folder nor a baseline', () => {
    const by = { kind: 'answer-now' as const, agent: 'starter' };
    const played = { folder: '', name: 'answer-now by starter', by };
    const known = { place: played, critic: { id: 'p', unit: 'reward' as const }, credits: [undefined] };
    const { critic: shown, canScore } = creditsView(known, [trajectory()], { own: 'kim' }, english);
    expect(shown).toMatchObject({ name: 'answer-now by starter', isCritic: false, unit: 'reward' });
    expect(shown).not.toHaveProperty('by');
    expect(canScore).toBe(true);
  });

  it('tells one’s own verdict from those of others, and from those on another critic', () => {
    const judged = trajectory(
      verdict('a', 1, false),
      verdict('a', 1, true, { by: 'ada' }),
      verdict('a', 2, true, { critic: 'another' }),
    );
    const { credits } = creditsView(
      { place, critic, credits: [credit(0.2, 0.1)] },
      [judged],
      { own: 'kim' },
      english,
    );
    expect(credits[0]).toMatchObject([
      { turn: 1, agrees: false, others: ['ada agrees with the critic'] },
      { turn: 2, others: [] },
    ]);
    expect(credits[0]![1]).not.toHaveProperty('agrees');
  });
});
