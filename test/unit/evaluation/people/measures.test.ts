import { describe, expect, it } from 'vitest';
import { PageChoices } from '../../../../src/core/evaluation/people/measures';
import type { NewEvent, Picked } from '../../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  judgement,
  kim,
  openLog,
  play,
  started,
} from '../../../fixtures/log';
import { bakery, drawingReader, pageOf, reader } from '../../../fixtures/pages';

const near = pageOf('Golden Crust', 'Fresh bread every morning', 'Open from six');
const far = pageOf('Golden Crust');

async function choose(
  log: TrajectoryLog,
  episode: string,
  pages: readonly [string, string],
  picked: Picked,
  ...last: readonly NewEvent[]
): Promise<void> {
  await log.recordTask(bakery);
  const shown = candidates(episode, 1);
  const [first, second] = shown.candidates;
  await log.appendAll([
    started(episode, { collaborator: kim, task: bakery.id }),
    {
      ...shown,
      candidates: [
        { ...first, text: `OUTPUT:\n${pages[0]}` },
        { ...second, text: `OUTPUT:\n${pages[1]}` },
      ],
    },
    choice(episode, 1, picked),
    agentTurn(episode, 1),
    ...last,
  ]);
}

describe('the agreement of a measure with people', () => {
  it('counts each person’s choice of one of two pages, without ties of the score', async () => {
    const log = await openLog();
    const over = (episode: string) => answered(episode, 1, far);
    await choose(log, 'a', [near, far], 0, over('a'));
    await choose(log, 'b', [near, far], 1, over('b'));
    await choose(log, 'c', [far, near], 1, over('c'));
    await choose(log, 'd', [near, near], 1, over('d'));
    await choose(log, 'e', [near, far], 'equal', over('e'));
    await choose(log, 'f', [near, 'Which colors?'], 0, over('f'));
    // Someone may still choose here.
    await choose(log, 'open', [near, far], 1);
    const [second] = (await log.trajectory('b'))!.turns[0]!.candidates!;
    await log.append(judgement(second!, 0, 0, 'ada'));
    await play(log, 'function', 1);

    const found = await new PageChoices().agreement(log, reader);
    expect(found).toMatchObject({ undecided: 1, withoutPage: 1 });
    expect(found!.measures).toMatchObject([
      { measure: 'structure', renderer: 'a test', choices: 4, agreed: 3, rate: 0.75, ties: 1 },
    ]);
    // z² = 3.84146: (0.75 + 0.48018) / 1.96037 ± 0.99980 √(0.04688 + 0.06002)
    expect(found!.measures[0]!.interval.low).toBeCloseTo(0.30064, 4);
    expect(found!.measures[0]!.interval.high).toBeCloseTo(0.95441, 4);
  });

  it('is known of CLIP, too, where that is given', async () => {
    const log = await openLog();
    await choose(log, 'a', [near, far], 1, answered('a', 1, far));
    const clip = {
      precision: 'fp32' as const,
      // Of how long a page is, as an angle.
      embed: (png: Buffer | undefined) => {
        const angle = (png?.length ?? 0) / 1000;
        return Promise.resolve(Float32Array.of(Math.cos(angle), Math.sin(angle)));
      },
    };
    const found = await new PageChoices().agreement(log, drawingReader, {}, clip);
    expect(found!.measures.map(({ measure, choices, rate }) => [measure, choices, rate])).toEqual([
      ['structure', 1, 0],
      ['clip', 1, 0],
    ]);
  });

  it('draws nothing and is absent without choices about pages', async () => {
    const log = await openLog();
    await play(log, 'function', 1);
    const broken = { ...reader, name: () => Promise.reject(new Error('It draws.')) };
    expect(await new PageChoices().agreement(log, broken)).toBeUndefined();
  });
});
