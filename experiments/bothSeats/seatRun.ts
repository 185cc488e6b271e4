import path from 'node:path';
import * as z from 'zod';
import { precisionOf } from '../../src/core/evaluation/loop/export';
import {
  parseConfiguration,
  readConfigurationFile,
  type RunConfiguration,
} from '../../src/core/training/configuration';
import { runSchema } from '../../src/core/training/schema';
import { wrongUse } from '../../src/cli/command';
import type { Seat, Training } from './rounds';

/** The run.json of a seat, from which the run of each round is made. */
export interface SeatRun {
  /** Folder of the model that the seat starts with. */
  readonly base: string;
  readonly play: { readonly maxTurns: number; readonly maxTokens: number; readonly temperature: number };
  readonly configuration: (of: Training) => Promise<RunConfiguration>;
}

const grpo = runSchema.properties.grpo.properties;

const fileSchema = z.looseObject({
  role: z.string().optional(),
  method: z.string(),
  model: z.looseObject({ base: z.string() }),
  grpo: z
    .looseObject({
      max_turns: z.int().default(grpo.max_turns.default),
      max_new_tokens: z.int().default(grpo.max_new_tokens.default),
      temperature: z.number().default(grpo.temperature.default),
    })
    .prefault({}),
});

/** @throws {Fault} `usage` for a run of another method or seat; as `readConfiguration`, and when its model cannot play */
export async function readSeatRun(seat: Seat, file: string): Promise<SeatRun> {
  const folder = path.dirname(path.resolve(file));
  const value = await readConfigurationFile(file);
  await parseConfiguration(value, { from: file, folder });
  const run = fileSchema.parse(value);
  if (run.method !== 'grpo')
    throw wrongUse(`${file} has the method ${run.method}; both seats learn by grpo.`);
  if ((run.role ?? 'agent') !== seat) throw wrongUse(`${file} does not train the ${seat}; set its role.`);
  const base = path.resolve(folder, run.model.base);
  const precision = precisionOf(base);
  const partnerField = seat === 'agent' ? 'simulator' : 'agent';
  const { max_turns: maxTurns, max_new_tokens: maxTokens, temperature } = run.grpo;
  return {
    base,
    play: { maxTurns, maxTokens, temperature },
    configuration: (of) =>
      parseConfiguration(
        {
          ...run,
          model: { ...run.model, base: of.base },
          grpo: { ...run.grpo, [partnerField]: `local:${of.partner}` },
          export: { onnx: [precision] },
        },
        { from: file, folder },
      ),
  };
}
