import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { kim, openLog, play, segmentFiles, takeSealsAway, temporaryFolder } from '../../fixtures/log';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();

it('tandem import says whom it renamed, which consent it lowered, what it left out and which times it limited', async () => {
  const [here, there] = [await temporaryFolder(), await temporaryFolder()];
  const consent = { event: 'consent', pseudonym: 'kim', purpose: 'research' } as const;
  const log = await openLog(here);
  await log.append({ ...consent, level: 'export-with-edits' });
  await play(log, 'a1', 1, { collaborator: kim });
  await log.close();
  const other = await openLog(there);
  await other.append({ ...consent, level: 'export' });
  await play(other, 'b1', 1, { collaborator: kim });
  await other.append({ event: 'deleted', episode: 'a1' });
  await other.close();
  await takeSealsAway(there);
  const [file] = await segmentFiles(there);
  const lines = (await readFile(file!, 'utf8')).split('\n');
  const forged = lines.map((line) =>
    line.includes('"grade"') ? line.replace(/"at":"[^"]*"/, '"at":"9999-12-31T23:59:59.999Z"') : line,
  );
  await writeFile(file!, forged.join('\n'));

  const summary = z.object({ summary: z.record(z.string(), z.unknown()) });
  const copy = path.join(folder, 'copy');
  await cp(here, copy, { recursive: true });
  expect((await json(summary, 'import', there, '--data', copy)).summary).toMatchObject({
    ...{ imported: 1, deleted: 0, limitedTimes: 1, lowered: [] },
    renamed: [{ from: 'kim', to: 'kim (2)' }],
    leftOut: { deleted: 1 },
  });
  const { stdout } = await tandem('import', there, '--data', here, '--same-person', 'kim');
  expect(stdout).toMatch(/^1 .*\nThe consent of kim .*“export”.*\n.*1 deleted.*\n.*future.*: 1\./);
  expect(await tandem('import', there, '--data', here, '--replies-by', 'people')).toMatchObject({ code: 2 });
});

it('tandem import keeps who wrote the replies, and takes rows of others for a simulator’s', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await play(log, 'e1', 1);
  await log.close();
  const rows = path.join(folder, 'told.jsonl');
  await tandem('export', '--format', 'trajectories', '--data', data, rows);
  const {
    tandem: _,
    messages: __,
    ...row
  } = JSON.parse(await readFile(rows, 'utf8')) as Record<string, unknown>;
  const untold = path.join(folder, 'untold.jsonl');
  await writeFile(untold, JSON.stringify(row));
  const silent = path.join(folder, 'silent.jsonl');
  await writeFile(silent, JSON.stringify({ ...row, tandem: {} }));
  const counted = z.object({ summary: z.object({ rows: z.number() }) });
  for (const [from, target, leaving, ...options] of [
    [rows, 'told', 1],
    [untold, 'untold', 1],
    [untold, 'people', 0, '--replies-by', 'people'],
    [silent, 'silent', 0],
  ] as const) {
    const into = path.join(folder, target);
    expect((await tandem('import', from, '--data', into, ...options)).code).toBe(0);
    const out = path.join(folder, `${target}-out.jsonl`);
    const { summary } = await json(
      counted,
      'export',
      '--format',
      'trajectories',
      '--data',
      into,
      out,
      '--mode',
      'paper',
    );
    expect(summary.rows).toBe(leaving);
  }
});

it('tandem import reads files of sessions by what is in them, says what is wrong with a line, and adds nothing twice', async () => {
  const data = await temporaryFolder();
  const codex = path.join(folder, 'rollout.jsonl');
  const message = (role: string, text: string): object => ({
    type: 'response_item',
    payload: { type: 'message', role, content: [{ type: 'text', text }] },
  });
  const lines = [message('user', 'Run the tests.'), message('assistant', 'They pass.')];
  await writeFile(codex, [...lines.map((line) => JSON.stringify(line)), '{"type":'].join('\n'));
  const atif = path.join(folder, 'chat.trajectory.json');
  const steps = [
    { step_id: 1, source: 'user', message: 'Find it.' },
    { step_id: 2, source: 'agent', message: 'Here.' },
  ];
  await writeFile(
    atif,
    JSON.stringify({ schema_version: 'ATIF-v1.5', agent: { name: 'a' }, steps }, null, 2),
  );
  const first = await tandem('import', codex, atif, '--data', data);
  expect(first).toMatchObject({ code: 1 });
  expect(first.stdout).toMatch(
    /^2 trajectories imported .*; 0 were there already\.\n.*rollout\.jsonl:3: .*not JSON/,
  );
  const second = await tandem('import', atif, '--data', data);
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toMatch(/^0 trajectories imported .*; 1 were there already\./);
  expect(await tandem('import', atif, data, '--data', data)).toMatchObject({ code: 2 });
});
