import { expect, it } from 'vitest';
import { withModel } from '../../../src/core/dialogue/specification/specificationSpec';
import { namedFor, rolesOf } from '../../../src/editor/roles';

const lab = 'openai:m@http://lab/v1';
const settings = {
  ...{ agent: 'starter', secondAgent: '', showsCandidates: false },
  simulator: `specification:${lab},persona=terse`,
};

it('a model that simulates from a specification is the simulator, also when its connection is edited', () => {
  expect(rolesOf(lab, settings)).toEqual(['simulator']);
  expect(namedFor(lab, settings)).toEqual(['simulator']);
  expect(withModel(settings.simulator, 'openai:n@http://lab/v1')).toBe(
    'specification:openai:n@http://lab/v1,persona=terse',
  );
});
