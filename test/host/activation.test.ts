import assert from 'node:assert/strict';

import * as vscode from 'vscode';

describe('The extension in a real extension host', () => {
  it('is there under its published name', () => {
    assert.ok(vscode.extensions.getExtension('tandem.tandem'));
  });

  it('activates', async () => {
    const extension = vscode.extensions.getExtension('tandem.tandem');
    await extension?.activate();
    assert.equal(extension?.isActive, true);
  });
});
