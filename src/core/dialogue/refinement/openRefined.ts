import type { AnswerRunner } from '../../grading/grader';
import type { Model } from '../../model/model';
import { RefinedModel } from './refinedModel';
import { refineSpec } from './refineSpec';

/**
 * Opens an agent, of which `refine:<model>[,verifier=<model>][,refiner=<model>][,drafts=<n>]` is made of others.
 * @param open opens each of its models
 * @param runner is asked for when the first drafts are compared
 * @param verifierTemperature 0 by default
 * @throws {Fault} as `refineSpec` and `open`
 */
export async function openRefined(
  spec: string,
  open: (spec: string) => Model | Promise<Model>,
  runner: () => AnswerRunner | Promise<AnswerRunner>,
  verifierTemperature?: number,
): Promise<Model> {
  const refine = refineSpec(spec);
  if (refine === undefined) return open(spec);
  const { model, verifier, refiner, drafts } = refine;
  const roles = {
    generator: await open(model),
    verifier: verifier === undefined ? verifier : await open(verifier),
    refiner: refiner === undefined ? refiner : await open(refiner),
  };
  return new RefinedModel(spec, roles, drafts, runner, verifierTemperature);
}
