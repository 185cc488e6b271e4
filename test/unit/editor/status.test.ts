import { describe, expect, it, vi } from 'vitest';
import { ownTask } from '../../../src/core/task/own';
import { statusLine, workLine, type OpenSession } from '../../../src/editor/status';
import { english } from './translate';

vi.mock('vscode', () => import('./vscode'));

describe('The line of the status bar', () => {
  const playing = (title: string, phase: OpenSession['state']['phase']): OpenSession => ({
    title,
    state: { phase, turn: 2, maxTurns: 6 },
  });
  const line = (...open: OpenSession[]) => statusLine(open, english);

  it('says what goes on, and is not there while no session is open', () => {
    expect(line(playing('Parcels', 'agent'))).toMatchObject({ icon: 'sync~spin' });
    expect(line()).toBeUndefined();
  });

  it('tells first of the session that waits for the person', () => {
    const said = line(playing('One', 'agent'), playing('Two', 'over'), playing('Three', 'developer'));
    expect(said?.playing.title).toBe('Three');
    expect(said?.tooltip).toMatch(/2 more /);
  });

  it('shows by its icon whether all tests passed', () => {
    const { state } = playing('Parcels', 'over');
    const grade = { headline: '8 of 10 tests passed', verdict: 'partial', mode: 'fixed', tests: [] } as const;
    const said = line({ title: 'Parcels', state: { ...state, grade } });
    expect(said).toMatchObject({ icon: 'pie-chart', text: 'Tandem: 8 of 10 tests passed' });
    expect(line({ title: 'Mine', task: ownTask('def mine(): ...', ''), state })).toMatchObject({
      icon: 'pass',
    });
  });

  it('says of long work what it is, and how far', () => {
    const work = { title: 'Importing a.jsonl', message: '3 rows', fraction: 0.257 };
    expect(workLine(work, english)).toEqual({
      icon: 'sync~spin',
      text: 'Tandem: Importing a.jsonl · 25 %',
      tooltip: 'Importing a.jsonl: 3 rows.\nClick to show the progress.',
    });
    expect(workLine({ title: 'Exporting', message: '' }, english).text).toBe('Tandem: Exporting');
  });
});
