import * as z from 'zod';
import type { AgentFigures } from './figures';

const number = z.number();
export const intervalSchema = z.object({ low: number, high: number });
const estimate = z.object({ mean: number, interval: intervalSchema }).nullable();

export const figuresSchema = z.object({
  agent: z.string(),
  mode: z.enum(['fixed', 'paper']),
  tasks: number,
  dialogues: number,
  success: estimate,
  testsPassed: estimate,
  leakRate: number.nullable(),
  meanTurns: number.nullable(),
  missedDecisions: number.nullable(),
  uselessQuestions: number.nullable(),
  meanTokens: number.nullable(),
  meanSeconds: number.nullable(),
  turnLimitRate: number.nullable(),
  timeOutRate: number.nullable(),
  notGradable: number,
  unfinished: number,
}) satisfies z.ZodType<AgentFigures>;
