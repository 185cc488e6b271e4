import type { Model } from '../model/model';
import { openModel, type OpenModelOptions } from '../model/spec';
import type { Prompts } from './prompts';
import { ModelSimulator, RulesSimulator, type Simulator } from './simulator';
import { SpecificationSimulator } from './specification/specificationSimulator';
import { specificationSpec } from './specification/specificationSpec';

/** @throws {Fault} as `openModel` and `specificationSpec` */
export function openSimulator(spec: string, prompts: Prompts, options: OpenModelOptions = {}): Simulator {
  if (spec === 'rules') return new RulesSimulator();
  const specified = specificationSpec(spec);
  return simulatorWith(openModel(specified?.model ?? spec, options), spec, prompts);
}

/**
 * @param model as `simulatorModel` names it
 * @throws {Fault} as `specificationSpec`
 */
export function simulatorWith(model: Model, spec: string, prompts: Prompts): Simulator {
  const specified = specificationSpec(spec);
  return specified === undefined
    ? new ModelSimulator(model, prompts)
    : new SpecificationSimulator(model, prompts, specified.persona);
}
