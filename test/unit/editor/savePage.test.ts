import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../fixtures/log';

vi.mock('vscode', () => import('./vscode'));
const { commands, Uri, window } = await import('./vscode');
const { saveOfPage } = await import('../../../src/editor/savePage');

const engine = { configuration: { folder: { uri: '/w' } } } as never;
const csv = { name: 'first try: Loss / critic', kind: 'csv', content: 'name\r\nGröße\r\n' } as const;
/** A picture of one pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('what a page saves', () => {
  it('is written where the person says, under a name that every system takes', async () => {
    const file = path.join(await temporaryFolder(), 'loss.csv');
    window.showSaveDialog.mockResolvedValueOnce(Uri.file(file));
    window.showInformationMessage.mockResolvedValueOnce('Open the File');
    await saveOfPage(csv, engine);
    expect(await readFile(file, 'utf8')).toBe(csv.content);
    expect(window.showSaveDialog).toHaveBeenLastCalledWith({
      ...{ title: 'Save as CSV', filters: { 'CSV table': ['csv'] } },
      defaultUri: '/w/first-try-Loss-critic.csv',
    });
    expect(commands.executeCommand).toHaveBeenLastCalledWith('vscode.open', Uri.file(file));
  });

  it('is a picture, byte by byte', async () => {
    const file = path.join(await temporaryFolder(), 'loss.png');
    window.showSaveDialog.mockResolvedValueOnce(Uri.file(file));
    await saveOfPage({ name: '../..', kind: 'png', content: png }, engine);
    expect((await readFile(file)).toString('base64')).toBe(png);
    expect(window.showSaveDialog).toHaveBeenLastCalledWith(
      expect.objectContaining({ defaultUri: '/w/tandem.png' }),
    );
  });

  it('is refused in one sentence where it cannot be written', async () => {
    const file = path.join(await temporaryFolder(), 'gone', 'loss.csv');
    window.showSaveDialog.mockResolvedValueOnce(Uri.file(file));
    await expect(saveOfPage(csv, engine)).rejects.toMatchObject({ code: 'editor/not-saved' });
  });

  it.each([
    { name: 'a', kind: 'png', content: Buffer.from('<svg/>').toString('base64') },
    { name: 'a', kind: '__proto__', content: 'x' },
    { name: 'a', kind: 'csv', content: ['x'] },
  ])('is a table or a picture and nothing else: %j', async (file) => {
    await expect(saveOfPage(file as never, engine)).rejects.toMatchObject({ code: 'editor/page-message' });
  });
});
