import { describe, expect, it, vi } from 'vitest';
import path from 'node:path';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import { previewDocument, type ExportChoice } from '../../../../src/editor/export/choice';
import {
  previewExport,
  exportTrajectories,
  type ExportOptions,
} from '../../../../src/core/trajectory/export/export';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  doubling,
  kim,
  openLog,
  started,
} from '../../../fixtures/log';
import { playedDialogue } from '../playedDialogue';

vi.mock('vscode', () => import('../vscode'));

const played = playedDialogue();

describe('an export’s preview', () => {
  const exportChoice: ExportChoice = {
    ...{ format: 'chat', filter: { pack: 'written-by-hand.jsonl' }, withLeaked: true },
    ...{ onlySuccess: false, onlyAccepted: false, withEvaluations: false },
    ...{ withEditorModels: false, withRedo: false, withDoubtful: false },
  };
  const options: ExportOptions = {
    format: 'chat',
    render: ({ turns }) => turns.map(({ agent }) => ({ role: 'assistant', content: agent.text.repeat(40) })),
    filter: exportChoice.filter,
    withLeaked: true,
  };

  it('counts what the export then writes', async () => {
    const preview = await previewExport(played().log, options, 3);
    const result = await exportTrajectories(played().log, path.join(played().folder, 'out.jsonl'), {
      ...options,
      previewed: preview.digest,
    });
    const { rows, trajectories, tasks, successes, leftOut } = result;
    expect(preview).toMatchObject({ rows, trajectories, tasks, successes, leftOut, leaked: 1 });
    expect(rows).toBe(1);
    expect(preview.first).toHaveLength(1);
    expect(preview.consents).toEqual([['ada', expect.stringMatching(/^a test: may be exported \(/)]]);
  });

  it('names the rows, whose words they hold and why others are left out, with long texts cut', async () => {
    const withLeak = previewDocument(await previewExport(played().log, options, 3), exportChoice, undefined);
    expect(withLeak).toContain('**1 rows** from 1 dialogues of 1 tasks');
    expect(withLeak).toContain('| ada | a test: may be exported (');
    expect(withLeak).toMatch(/… \([\d,]+ characters more\)/);
    const without = await previewExport(played().log, { ...options, withLeaked: false }, 3);
    const choice = { ...exportChoice, withLeaked: false };
    const text = previewDocument(without, choice, 'beta');
    expect(text).toContain('| 1 | leaked |');
    expect(text).toContain('There is none.');
    expect(text).toContain('Of the log of beta.');
    expect(withLeak).not.toContain('Of the log of');
    expect(text).toContain('No text in these rows was written by a person.');
  });

  it('has a row for each choice, and the words of a model of the editor only when they are asked for', async () => {
    const chosen = await openLog();
    await chosen.recordTask(doubling);
    await chosen.append({ event: 'consent', pseudonym: 'kim', purpose: 'a test', level: 'export' });
    await chosen.appendAll([
      started('e', { collaborator: kim }),
      candidates('e', 1, ['openai:agent', 'vscode:copilot/gpt']),
      choice('e', 1, 1),
      { ...agentTurn('e', 1), model: 'vscode:copilot/gpt', terms: 'editor' } as NewEvent,
      answered('e', 1),
    ]);
    const previewed = async (withEditorModels: boolean): Promise<string> => {
      const asked = { ...exportChoice, format: 'choices', filter: {}, withEditorModels } as const;
      return previewDocument(await previewExport(chosen, { ...options, ...asked }, 3), asked, undefined);
    };
    const without = await previewed(false);
    expect(without).toContain('| 1 | model terms |');
    expect(without).not.toContain('read the vendor’s terms');
    const withThem = await previewed(true);
    expect(withThem).toContain('- Include VS Code-model dialogues: read the vendor’s terms');
    expect(withThem).toContain('| kim | a test: may be exported (');
  });
});
