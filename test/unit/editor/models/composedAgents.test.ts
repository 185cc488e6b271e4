import { beforeEach, expect, it, vi } from 'vitest';
import { mixtureSpec } from '../../../../src/core/model/mixtureSpec';
import { refineSpec } from '../../../../src/core/dialogue/refinement/refineSpec';
import type { OfferedCritic } from '../../../../src/editor/credit/critics';
import { window } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { ComposedAgents, chooseSpecified } = await import('../../../../src/editor/models/choice');

const models = [
  { label: 'starter', spec: 'starter' },
  { label: 'mine', spec: 'local:runs/1/model' },
];

/** A critic in the workspace, as far as the choice looks at it. */
const critic = (name: string, hidden: boolean, runner = 'onnx'): OfferedCritic =>
  ({
    ...{ folder: `/runs/${name}/critic`, name, about: '', from: 'run' },
    figures: { critic: { runner, about: { hidden_information: hidden } } },
  }) as never;

const blind = critic('blind', false);
const unfit = [critic('sees', true), critic('no graphs', false, 'trainer')];

const offered = (): string[] =>
  (window.showQuickPick.mock.lastCall![0] as { label: string }[]).map(({ label }) => label);

beforeEach(() => window.showQuickPick.mockReset());

it('makes a mixture of the chosen models and a critic that may choose at play', async () => {
  window.showQuickPick.mockResolvedValueOnce(models);
  window.showQuickPick.mockImplementationOnce((rows) => Promise.resolve((rows as unknown[])[0]));
  const spec = await new ComposedAgents(() => Promise.resolve([...unfit, blind])).mixture(models);
  expect(offered()).toEqual(['$(law) blind']);
  expect(mixtureSpec(spec!)).toMatchObject({
    models: ['starter', 'local:runs/1/model'],
    critic: '/runs/blind/critic',
  });
});

it('says how to train a critic where none can choose, and makes nothing when a person cancels', async () => {
  await expect(new ComposedAgents(() => Promise.resolve(unfit)).mixture(models)).rejects.toThrow(
    /^No critic in this workspace can choose/,
  );
  expect(window.showQuickPick).not.toHaveBeenCalled();
  window.showQuickPick.mockResolvedValueOnce([]);
  expect(await new ComposedAgents(() => Promise.resolve([blind])).mixture(models)).toBeUndefined();
});

it('makes an agent that runs drafts against each other of one model', async () => {
  window.showQuickPick.mockResolvedValueOnce(models[1]);
  const spec = await new ComposedAgents(() => Promise.resolve([])).refined(models);
  expect(refineSpec(spec!)).toMatchObject({ model: 'local:runs/1/model' });
});

it('makes a simulator with requirements only, of a model and a persona', async () => {
  window.showQuickPick.mockResolvedValueOnce(models[1]);
  window.showQuickPick.mockImplementationOnce((rows) => Promise.resolve((rows as unknown[])[1]));
  const spec = await chooseSpecified(models);
  expect(spec).toBe('specification:local:runs/1/model,persona=terse');
  window.showQuickPick.mockResolvedValueOnce(models[1]).mockResolvedValueOnce(undefined);
  expect(await chooseSpecified(models)).toBeUndefined();
});
