import type { AgentFigures } from '../../../../src/core/evaluation/figureSchemas';
import type { ModelResult, EvaluationSetting } from '../../../../src/core/evaluation/loop/evaluationCache';

const figures = (agent: string, success: number): AgentFigures => ({
  ...{ agent, mode: 'fixed', tasks: 8, dialogues: 8, meanTurns: 3, leakRate: 0, meanTokens: 40 },
  success: { mean: success, interval: { low: Math.max(0, success - 0.3), high: Math.min(1, success + 0.3) } },
  testsPassed: { mean: success, interval: { low: 0, high: 1 } },
  ...{ missedDecisions: 1, uselessQuestions: 1, meanSeconds: 1, turnLimitRate: 0, timeOutRate: 0 },
  ...{ notGradable: 0, unfinished: 0 },
});

/** @param successes by task */
export const played = (agent: string, successes: readonly number[]): ModelResult => ({
  figures: figures(agent, successes.reduce((sum, one) => sum + one, 0) / successes.length),
  by_task: successes.map((success, index) => ({
    ...{ task: `t${index}`, success, testsPassed: success, rollouts: 1 },
  })),
});

export const setting = (key: string): EvaluationSetting => ({
  ...{ key, title: 'mine', tasks: 8, simulator: 'rules', mode: 'fixed', seed: 0, rollouts: 1 },
  ...{ temperature: 0, max_tokens: 256, max_turns: 6, reply_limit: 400 },
});
