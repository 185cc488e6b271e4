import { beforeEach, expect, it, vi } from 'vitest';
import { window } from '../vscode';

vi.mock('vscode', () => import('../vscode'));

const { SecondAgentChoice } = await import('../../../../src/editor/models/choice');
const { commands } = await import('../../../../src/editor/commands');
const { specOf } = await import('../../../../src/editor/servers');

const lab = { name: 'Lab', baseUrl: 'http://127.0.0.1:8000/v1', model: 'qwen3' };
const moved = { ...lab, baseUrl: 'http://127.0.0.1:9000/v1' };
const row = { kind: 'server', server: lab, row: { roles: [], state: { kind: 'untested' } } } as const;

/** The settings, in memory. */
const configuration = {
  agent: 'starter',
  simulator: 'rules',
  secondAgent: '',
  showsCandidates: false,
  set(name: string, value: never): Promise<void> {
    const names: Record<string, string> = {
      'candidates.show': 'showsCandidates',
      'candidates.secondAgent': 'secondAgent',
    };
    Object.assign(configuration, { [names[name] ?? name]: value });
    return Promise.resolve();
  },
  forgetSecondAgent: (spec: string) =>
    Promise.resolve(spec === configuration.secondAgent && Object.assign(configuration, { secondAgent: '' })),
};
const remove = vi.fn(() => Promise.resolve());
const models = {
  choices: () =>
    Promise.resolve([
      { label: 'starter', spec: 'starter' },
      { label: 'Lab', spec: specOf(lab) },
      { label: 'A model on a server…', spec: () => Promise.resolve(specOf(moved)) },
    ]),
};
const candidates = new SecondAgentChoice(configuration as never, models);
const app = {
  configuration,
  candidates,
  connect: { edit: () => Promise.resolve(moved) },
  engine: { servers: { remove } },
} as never;

interface Row {
  readonly label: string;
  readonly description?: string;
}

/** Picks a row of the question; returns all its rows. */
async function picked(label: string): Promise<Row[]> {
  let all: Row[] = [];
  window.showQuickPick.mockImplementationOnce(async (rows) => {
    all = await (rows as Promise<Row[]>);
    return all.find((one) => one.label.endsWith(label));
  });
  await candidates.choose();
  return all;
}

beforeEach(() => {
  Object.assign(configuration, { secondAgent: '', showsCandidates: false });
  remove.mockClear();
});

it('the other candidate can be written by any model that can be the agent, but the agent itself', async () => {
  const rows = await picked('Lab');
  expect(rows.map(({ label }) => label.replace(/^\$\(.*?\) /, ''))).toEqual([
    'The agent writes both',
    'Lab',
    'A model on a server…',
    'One message at a time',
  ]);
  expect(configuration).toMatchObject({ secondAgent: specOf(lab), showsCandidates: true });
  await picked('A model on a server…');
  expect(configuration.secondAgent).toBe(specOf(moved));
  await picked('One message at a time');
  expect(configuration).toMatchObject({ secondAgent: specOf(moved), showsCandidates: false });
});

it('a second agent is not removed while candidates are shown, and is forgotten when it is removed', async () => {
  Object.assign(configuration, { secondAgent: specOf(lab), showsCandidates: true });
  await expect(commands.removeModel.run(app, row)).rejects.toThrow('Lab writes the second candidate.');
  expect(remove).not.toHaveBeenCalled();
  configuration.showsCandidates = false;
  await commands.removeModel.run(app, row);
  expect(remove).toHaveBeenCalledWith(lab);
  expect(configuration.secondAgent).toBe('');
});
