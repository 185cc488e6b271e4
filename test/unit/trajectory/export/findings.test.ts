import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ExportRefused,
  exportTrajectories,
  type ExportOptions,
  previewExport,
} from '../../../../src/core/trajectory/export/export';
import { findingInWords } from '../../../../src/core/trajectory/findings/words';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import {
  agentTurn,
  answered,
  doubling,
  graded,
  kim,
  openLog,
  play,
  started,
  temporaryFolder,
} from '../../../fixtures/log';

/** An invented secret in a service's format; it is concatenated so that secret scanners do not report this file. */
const token = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');

const failed = { mode: 'fixed', success: false, tests: [] } as const;

const visible: ExportOptions = {
  format: 'trajectories',
  visible: ({ agent }) => agent.text.replace('OUTPUT: ', ''),
};

/** Logs a dialogue in which kim gives the agent a token, and the agent repeats it; other dialogues are clean. */
async function leaky(): Promise<TrajectoryLog> {
  const log = await openLog();
  await play(log, 'clean', 1);
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' });
  await log.appendAll([
    started('leaky', { collaborator: kim }),
    agentTurn('leaky', 1),
    {
      ...{ event: 'reply', episode: 'leaky', turn: 1, author: 'developer', by: 'kim' },
      text: `Log in with ${token}`,
    },
    agentTurn('leaky', 2, `OUTPUT: I WANT TO ANSWER: TOKEN = "${token}"`),
    answered('leaky', 2, `TOKEN = "${token}"`),
    graded('leaky', 0),
  ]);
  return log;
}

describe('an export with findings', () => {
  it('is refused, and leaves nothing behind', async () => {
    const folder = await temporaryFolder();
    const refused = exportTrajectories(await leaky(), join(folder, 'out.jsonl'), visible);
    await expect(refused).rejects.toThrow(
      'Secrets or e-mail addresses in what would be exported: 2; nothing was written.',
    );
    const { findings } = (await refused.catch((error: unknown) => error)) as ExportRefused;
    expect(findings).toEqual([
      {
        ...{ row: 2, episode: 'leaky', turn: 1, author: 'developer', by: 'kim' },
        ...{ kind: 'secret', what: 'github token', excerpt: 'Log in with ghp_•••' },
      },
      {
        ...{ row: 2, episode: 'leaky', turn: 2, author: 'agent', by: 'agent' },
        ...{ kind: 'secret', what: 'github token', excerpt: '…ANT TO ANSWER: TOKEN = "ghp_•••' },
      },
    ]);
    expect(findingInWords(findings[0]!)).toBe(
      'row 2, dialogue leaky, turn 1, kim: github token: Log in with ghp_•••',
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('can be looked at before, without a file', async () => {
    const { rows, findings } = await previewExport(await leaky(), visible, 0);
    expect([rows, findings.length]).toEqual([2, 2]);
    expect(JSON.stringify(findings)).not.toContain(token.slice(4));
  });

  it.each(['refuse', 'write', 'leave-out'] as const)(
    'writes what was looked at before, and nothing when the log has moved on: %s',
    async (findings) => {
      const folder = await temporaryFolder();
      const log = await openLog();
      await play(log, 'clean', 1);
      const asked = findings === 'refuse' ? log : await leaky();
      const { digest } = await previewExport(asked, visible, 0);
      const write = (name: string) =>
        exportTrajectories(asked, join(folder, name), { ...visible, findings, previewed: digest });
      expect((await write('seen.jsonl')).rows).toBe(findings === 'write' ? 2 : 1);
      await asked.append({ event: 'grade', episode: 'clean', grade: { ...failed, reward: 0.25 } });
      await expect(write('graded.jsonl')).rejects.toMatchObject({ code: 'trajectory/export-changed' });
      await play(asked, 'later', 1);
      await expect(write('later.jsonl')).rejects.toMatchObject({ code: 'trajectory/export-changed' });
      expect(await readdir(folder)).toEqual(['seen.jsonl', 'seen.jsonl.md']);
    },
  );

  it('leaves the dialogues out that hold them, when that is asked for', async () => {
    const file = join(await temporaryFolder(), 'out.jsonl');
    const log = await leaky();
    const { rows, leftOut, findings } = await exportTrajectories(log, file, {
      ...visible,
      findings: 'leave-out',
    });
    expect([rows, leftOut, findings.length]).toEqual([1, { 'secret or e-mail address': 1 }, 2]);
    expect(await readFile(file, 'utf8')).not.toContain(token);
    await play(log, 'worse', 0);
    const render = (): { role: 'user'; content: string }[] => [{ role: 'user', content: token }];
    const pairs = await previewExport(log, { format: 'preferences', render, findings: 'leave-out' }, 0);
    expect([pairs.rows, pairs.leftOut]).toEqual([0, { 'secret or e-mail address': 3 }]);
  });
});

it('reports a secret of one dialogue of a pair for that dialogue alone', async () => {
  const log = await leaky();
  const options: ExportOptions = {
    format: 'preferences',
    render: ({ task: { description }, turns }) => [
      { role: 'user', content: description },
      ...turns.flatMap(({ agent, reply }) => [
        { role: 'assistant' as const, content: agent.text },
        ...(reply === undefined ? [] : [{ role: 'user' as const, content: reply.text }]),
      ]),
    ],
  };
  const { rows, findings } = await previewExport(log, options, 0);
  expect(rows).toBe(1);
  expect(findings.map(({ row, episode, turn, by }) => [row, episode, turn, by])).toEqual([
    [1, 'leaky', 1, 'kim'],
    [1, 'leaky', 2, 'agent'],
  ]);
});

it('lists what stands in a task, a purpose or a prompt once, whoever plays it', async () => {
  const log = await openLog();
  const task = { ...doubling, id: 'mail', description: 'Mail it to boss@firm.co. def double(n)' };
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'ask kim@lab.edu', level: 'export' });
  await play(log, 'one', 1, { collaborator: kim }, task);
  await play(log, 'two', 0, { collaborator: kim }, task);
  const { findings } = await previewExport(
    log,
    {
      format: 'chat',
      render: ({ task: { description } }) => [{ role: 'user', content: `by me@home.net\n${description}` }],
    },
    0,
  );
  expect(findings.map(({ author, by, excerpt }) => [author, by, excerpt])).toEqual([
    ['consent', 'kim', 'ask •••'],
    ['other', '', 'by •••'],
    ['other', '', 'Mail it to •••'],
  ]);
});
