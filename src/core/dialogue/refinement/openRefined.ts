import type { AnswerRunner } from '../../grading/grader';
import type { Model } from '../../model/model';
import { RefinedModel } from './refinedModel';
import { refineSpec } from './refineSpec';

/**
 * Opens an agent, of which `refine:<model>[,verifier=<model>][,drafts=<n>]` is made of others.
 * @param open opens each of its models
 * @param runner is asked for when the first drafts are compared
 * @throws {Fault} as `refineSpec` and `open`
 */
export async function openRefined(
  spec: string,
  open: (spec: string) => Model | Promise<Model>,
  runner: () => AnswerRunner | Promise<AnswerRunner>,
): Promise<Model> {
  const refine = refineSpec(spec);
  if (refine === undefined) return open(spec);
  const { verifier, drafts } = refine;
  const model = await open(refine.model);
  return new RefinedModel(
    spec,
    model,
    verifier === undefined ? verifier : await open(verifier),
    drafts,
    runner,
  );
}
