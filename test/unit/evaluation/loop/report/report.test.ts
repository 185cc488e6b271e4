import { describe, expect, it } from 'vitest';
import type {
  TrainedComparison,
  TrainedComparisons,
} from '../../../../../src/core/evaluation/loop/comparison';
import { verdictOf } from '../../../../../src/core/evaluation/report/loop';
import { learningPicture } from '../../../../../src/core/evaluation/pictures/curves';
import { pageOf, type LoopReport } from '../../../../../src/core/evaluation/loop/report/report';
import { QUICK, sizesFor } from '../../../../../src/core/evaluation/loop/settings';
import type { AgentFigures } from '../../../../../src/core/evaluation/figureSchemas';
import { parseEvent } from '../../../../../src/core/training/eventFile';
import type { TrainerEvent } from '../../../../../src/core/training/events';
import { RunHistory } from '../../../../../src/core/training/history/history';

const figures = (success: number, changes: Partial<AgentFigures> = {}): AgentFigures => ({
  agent: 'starter',
  mode: 'fixed',
  tasks: 200,
  dialogues: 400,
  success: { mean: success, interval: { low: success - 0.05, high: success + 0.05 } },
  testsPassed: { mean: 0.6, interval: { low: 0.55, high: 0.65 } },
  leakRate: 0,
  meanTurns: 4.1,
  missedDecisions: 1.2,
  uselessQuestions: 1.6,
  meanTokens: 70,
  meanSeconds: 1,
  turnLimitRate: 0.1,
  timeOutRate: 0,
  notGradable: 0,
  unfinished: 0,
  ...changes,
});

/** Makes a comparison with a change of success by `by` and an interval of ±`give`. */
function changed(by: number, give: number): TrainedComparison {
  const paired = { difference: by, interval: { low: by - give, high: by + give }, p: 0.01, tasks: 200 };
  return {
    before: figures(0.3),
    after: figures(0.3 + by),
    success: paired,
    testsPassed: paired,
    gained: 40,
    lost: 12,
  };
}

const both = (sampled: TrainedComparison, greedy = sampled): TrainedComparisons => ({ sampled, greedy });
const up = changed(0.14, 0.05);
const open = changed(0.02, 0.05);
const down = changed(-0.1, 0.05);

describe('the verdict of a loop', () => {
  it('says that training helped only when the intervals of both plays are above zero', () => {
    expect(verdictOf(both(up))).toBe('Training helped sampled play and helped greedy play');
    expect(verdictOf(both(up, open))).toContain('made no clear difference to greedy play');
    expect(verdictOf(both(open, up))).toContain('made no clear difference to sampled play');
  });

  it('says as plainly that it did nothing, or harm', () => {
    expect(verdictOf(both(open))).toContain('made no clear difference to sampled play');
    expect(verdictOf(both(down))).toBe('Training harmed sampled play and harmed greedy play');
    expect(verdictOf(both(up, down))).toBe('Training helped sampled play and harmed greedy play');
  });
});

const told = (comparisons: TrainedComparisons, changes: Partial<LoopReport> = {}): LoopReport => ({
  folder: '/home/me/loop',
  data: '/home/me/loop',
  model: '/home/me/loop/model',
  run: '20261121-010203-abcd',
  tasks: { train: 400, heldOut: 200, badLines: 0, content: { train: 'a', heldOut: 'b' } },
  collected: { collection: 'loop-1', dialogues: 1600, successes: 480 },
  comparisons,
  precision: 'fp32',
  stages: [{ name: 'train', isSkipped: false, seconds: 150 }],
  plan: {
    packs: [],
    world: 'functions',
    settings: QUICK,
    seed: 0,
    agent: { name: 'starter', base: '/assets/starter', graph: '/assets/starter/onnx/model.onnx' },
    simulator: 'rules',
  },
  history: new RunHistory(),
  ...changes,
});

describe('the report of a loop', () => {
  it('warns of a gain that only sampled play shows', () => {
    expect(pageOf(told(both(up, open)))).toContain('may be that the agent wavers less');
    expect(pageOf(told(both(up)))).not.toContain('wavers');
  });

  it('says of web pages how many checks pass and how much of what was told is applied', () => {
    const drafts = (applied: number): Partial<AgentFigures> => ({
      draftProgress: {
        ...{ told: 500, applied: { mean: applied, interval: { low: 0, high: 1 } } },
        ...{ redrafts: 300, regressed: null, claims: 500, falseClaims: null, unread: 0 },
      },
      pages: [
        {
          ...{ mode: 'fixed', measure: 'checks', version: 1, renderer: 'none', tasks: 200, dialogues: 400 },
          ...{ score: { value: 0.6 }, meanTurns: 4.1 },
          drafts: [{ turn: 1, dialogues: 400, score: { value: 0.4 } }],
        },
      ],
    });
    const pages = { ...up, before: figures(0.1, drafts(0.81)), after: figures(0.4, drafts(0.93)) };
    const { plan } = told(both(pages));
    const report = pageOf(
      told(both(pages), { plan: { ...plan, world: 'pages', settings: sizesFor('pages', 0).standard } }),
    );
    expect(report).toContain(
      '| Checks passed, first draft | Told and applied | Redrafts that lose something |',
    );
    expect(report).toContain('| After, greedy | 4.10 | 70 | 10.0 % | 40.0 % | 93.0 % | – |');
    expect(report).toContain('| Checks passed |');
    expect(report).toContain('--world pages');
    expect(report).toContain('--max-turns 4');
    expect(report).not.toMatch(/tests passed|missed decision|scoreboard/i);
  });

  it('says of twenty questions how many were lost and what each told', () => {
    const asking = (regret: number, bits: number): Partial<AgentFigures> => ({
      questions: { ...{ dialogues: 400, needed: 5.2, asked: 5.6, left: 3.1 }, regret, bits },
    });
    const questions = {
      ...up,
      before: figures(0.2, asking(2.41, 0.42)),
      after: figures(0.6, asking(0.83, 0.81)),
    };
    const { plan } = told(both(questions));
    const settings = sizesFor('twenty-questions', 0).standard;
    const report = pageOf(told(both(questions), { plan: { ...plan, world: 'twenty-questions', settings } }));
    expect(report).toContain(
      '| Agent | Turns | Useless questions | Questions lost | Bits per question | Tokens |',
    );
    expect(report).toContain('| Before | 4.10 | 1.60 | 2.41 | 0.42 | 70 | 10.0 % |');
    expect(report).toContain('| After | 4.10 | 1.60 | 0.83 | 0.81 | 70 | 10.0 % |');
    expect(report).toContain('--kind twenty-questions');
    expect(report).toContain('--max-turns 7');
    expect(report).not.toMatch(/checks passed|missed decision|scoreboard/i);
  });
});

const event = (fields: object): TrainerEvent =>
  parseEvent(JSON.stringify({ version: 1, at: '2026-11-21T00:00:00Z', ...fields }))!;

describe('the learning curves of a run', () => {
  const step = (stage: string, number: number, loss: number): TrainerEvent =>
    event({ event: 'step', stage, step: number, steps: 3, loss, accuracy: 0.5 });

  it('take the later of the steps that a run repeated after it had died', () => {
    const pictureOf = (events: readonly TrainerEvent[]): string => {
      const history = new RunHistory();
      for (const one of events) history.add(one);
      return learningPicture('critic', [{ name: 'a', history }]);
    };
    const once = pictureOf([step('critic', 1, 0.7), step('critic', 2, 0.5), step('critic', 3, 0.4)]);
    const died = [
      step('critic', 1, 0.7),
      step('critic', 2, 0.9),
      step('critic', 2, 0.5),
      step('critic', 3, 0.4),
    ];
    expect(pictureOf(died)).toBe(once);
    expect(pictureOf([step('critic', 1, 0.7)])).not.toBe(once);
  });
});
