import { describe, expect, it, vi } from 'vitest';
import { statusLine, type OpenSession } from '../../../src/editor/status';
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
});
