import type { PageMeasure } from '../../../../src/core/grading/grade';
import type { EventOf } from '../../../../src/core/trajectory/event';
import type { Trajectory } from '../../../../src/core/trajectory/trajectory';
import { doubling } from '../../../fixtures/log';
import { bakery } from '../../../fixtures/pages';

interface Other extends Partial<Pick<PageMeasure, 'measure' | 'version' | 'renderer'>> {
  /** Makes it a dialogue about a function. */
  readonly success?: boolean | null;
}

/** A finished dialogue with a draft a turn. */
export function scored(task: string, scores: readonly number[], other: Other = {}): Trajectory {
  const head = { version: 1, at: '2026-01-01T00:00:00Z', episode: `of ${task}` };
  const { success, ...scale } = other;
  const page: PageMeasure = {
    ...{ measure: 'structure', version: 1, renderer: 'a test', parts: {} },
    score: scores.at(-1) ?? 0,
    drafts: scores.map((score, index) => ({ turn: index + 1, score })),
    ...scale,
  };
  const grade: EventOf<'grade'>['grade'] =
    success === undefined
      ? { mode: 'fixed', reward: page.score, success: null, tests: [], page }
      : { mode: 'fixed', reward: success === null ? null : Number(success), success, tests: [] };
  const turns = Math.max(1, scores.length);
  return {
    id: head.episode,
    task: success === undefined ? { ...bakery, id: task } : { ...doubling, id: task },
    started: {
      ...{
        ...head,
        event: 'episode-started',
        task,
        agent: 'x',
        collaborator: { kind: 'rules', name: 'rules' },
      },
      ...{ protocol: { maxTurns: 10, replyLimit: 1000 }, prompts: {}, seed: 0 },
    },
    agent: 'x',
    collaborator: { kind: 'rules', name: 'rules' },
    state: 'answered',
    turns: Array.from({ length: turns }, (_, index) => ({
      agent: { ...head, event: 'agent-turn', turn: index + 1, text: '', finishReason: 'stop', model: 'x' },
    })),
    handOvers: [],
    grades: [{ ...head, event: 'grade', grade }],
  };
}
