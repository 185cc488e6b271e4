import { expect, it, vi } from 'vitest';
import type { Check, Plan } from '../../../../../src/core/training/checks';
import { Runs } from '../../../../../src/core/training/runs';
import type { Trainer } from '../../../../../src/core/training/trainer';
import type { EstimateRequest } from '../../../../../src/editor/runs/form/estimator';
import type { EstimateView } from '../../../../../webview/newRun/protocol';
import { eventually } from '../../../../fixtures/eventually';
import { plan as fitting } from '../../../../fixtures/plan';
import { english } from '../../translate';

vi.mock('vscode', () => ({ l10n: { t: english } }));

const { Estimating } = await import('../../../../../src/editor/runs/form/estimator');

const quiet = { onEstimate: () => undefined, onRefused: () => false, report: () => undefined };

/** Makes a form whose trainer is being installed until the test ends the installation. */
function preparing() {
  const said: string[] = [];
  const installs: {
    readonly report: (message: string, fraction?: number) => void;
    readonly end: (trainer: Trainer | undefined) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const estimating = new Estimating(
    {
      prompts: '/project/prompts',
      isInstalled: () => Promise.resolve(false),
      open: () => Promise.reject(new Error('The trainer is not installed.')),
      openVisibly: (_, report) =>
        new Promise((end, fail) => installs.push({ report: (...news) => report?.(...news), end, fail })),
    },
    {
      ...quiet,
      onEstimate: ({ state, sentence, problem, installing }) =>
        said.push(
          [state, installing?.state, installing?.fraction, installing?.count, sentence, problem]
            .filter((part) => part !== undefined && part !== '')
            .join(' '),
        ),
    },
  );
  const prepared = estimating.prepare();
  return { said, installs, estimating, prepared };
}

const request = (fields: Partial<EstimateRequest> = {}): EstimateRequest => ({
  runs: new Runs('/project/.tandem'),
  configuration: { name: 'first' },
  ...{ from: 'New Run', data: '', needsDownload: false },
  ...fields,
});
const trainer: Trainer = { python: '/project/python' };
const asked = 'asked To plan it, the model’s configuration and tokenizer are downloaded from the hub.';

it('says while the trainer is prepared nothing but how far that is, whatever is changed', async () => {
  const { said, installs, estimating, prepared } = preparing();
  installs[0]!.report('downloading torch', 0.5);
  estimating.update(request({ needsDownload: true }));
  estimating.plan();
  estimating.clear('Mend what is marked.');
  expect(said).toEqual(['working now 0.5 downloading torch']);
  expect(estimating.prepare()).toBe(prepared);
  expect(installs).toHaveLength(1);

  installs[0]!.end(trainer);
  expect(await prepared).toBe(true);
  estimating.update(request({ needsDownload: true }));
  expect(said.slice(1)).toEqual(['none done', asked]);
});

it('offers to prepare it again when that failed or was cancelled', async () => {
  const { said, installs, estimating, prepared } = preparing();
  installs[0]!.fail(new Error('The disk is full.'));
  expect(await prepared).toBe(false);
  expect(said.at(-1)).toBe(
    'unprepared waiting Memory and time are estimated after the installation. The disk is full.',
  );
  const again = estimating.prepare();
  installs[1]!.end(undefined);
  expect(await again).toBe(false);
  expect(said.at(-1)).toMatch(/^unprepared waiting/);
});

/** Each answers one request to the trainer, in the order of the requests. */
const { planned, looked } = vi.hoisted(() => ({
  planned: [] as ((answer: { readonly plan: Plan }) => void)[],
  looked: [] as ((checks: readonly Check[]) => void)[],
}));
vi.mock('../../../../../src/core/training/start', () => ({
  planRun: () => new Promise((done) => planned.push(done)),
  examineRun: () => new Promise((done) => looked.push(done)),
}));

it('says nothing more of a plan that is given up, however far it has come', async () => {
  const said: string[] = [];
  const environment = {
    prompts: '/project/prompts',
    isInstalled: () => Promise.resolve(true),
    open: () => Promise.resolve(trainer),
    openVisibly: () => Promise.resolve(trainer),
  };
  const onEstimate = ({ sentence }: EstimateView): void => void said.push(sentence);
  const estimating = new Estimating(environment, { ...quiet, onEstimate });
  const asksFor = async (name: string): Promise<() => void> => {
    const before = planned.length;
    estimating.update(request({ configuration: { name, model: { base: 'a/b' }, data: {} } }));
    estimating.plan();
    await eventually(() => expect(planned.length).toBeGreaterThan(before));
    return () => planned.at(-1)!({ plan: fitting });
  };
  (await asksFor('first'))();
  await eventually(() => expect(looked).toHaveLength(1));
  expect(said.at(-1)).toBe('It fits this machine.');
  // The check of the machine for this form is still running.
  estimating.clear('Mend what is marked.');
  const lines = said.length;
  looked[0]!([]);
  const planSecond = await asksFor('second');
  planSecond();
  estimating.clear('Mend it again.');
  // A third one ends after all messages of the first two.
  (await asksFor('third'))();
  await eventually(() => expect(said.at(-1)).toBe('It fits this machine.'));
  expect(said.slice(lines - 1).filter((line) => line !== 'Planning …')).toEqual([
    'Mend what is marked.',
    'Mend it again.',
    'It fits this machine.',
  ]);
});
