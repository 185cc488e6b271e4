import { describe, expect, it } from 'vitest';
import { kim, openLog, play, temporaryFolder } from '../../fixtures/log';
import { tandem } from './tandem';

describe('tandem agreement', () => {
  it('prints what each person played and judged, alpha, and where they disagree', async () => {
    const data = await temporaryFolder();
    const log = await openLog(data);
    for (const episode of ['a', 'b']) await play(log, episode, 1, { collaborator: kim, pack: 'mine.jsonl' });
    await log.appendAll([
      { event: 'rating', episode: 'a', stars: 5, by: 'kim' },
      { event: 'rating', episode: 'a', stars: 1, by: 'ada' },
      { event: 'rating', episode: 'b', stars: 2, by: 'kim' },
    ]);
    await log.close();
    const { stdout, code } = await tandem('agreement', '--data', data);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^person +dialogues +tasks +success +leaks +stars +thumbs up +chose first +chose none$/,
    );
    expect(lines[1]).toMatch(/^ada +0 +0 +– +– +1\.0 \[1\.0, 4\.2\], n = 1 +– +– +–$/);
    expect(lines[2]).toMatch(
      /^kim +2 +1 +100\.0 % \[20\.7, 100\.0\] .* 3\.5 \[1\.6, 4\.8\], n = 2 +– +– +–$/,
    );
    expect(lines).toContainEqual(expect.stringMatching(/^stars +0\.00 +1 dialogue$/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^choices +– +Nothing was judged by two people yet\.$/),
    );
    expect(lines.at(-1)).toMatch(/^stars +a +kim: 5, ada: 1$/);
    const json = JSON.parse((await tandem('agreement', '--data', data, '--json')).stdout) as object;
    expect(json).toMatchObject({
      rows: [{ kind: 'stars', episode: 'a', distance: 1 }],
      summary: { people: [{ name: 'ada' }, { name: 'kim' }], alpha: { stars: { units: 1 } } },
    });
    const other = await tandem('agreement', '--data', data, '--pack', 'other.jsonl');
    expect(other.stdout).toContain('No person has played or judged a dialogue');
  });
});
