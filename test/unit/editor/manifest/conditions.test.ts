import { expect, it } from 'vitest';
import {
  IN_FOLDER,
  all,
  editor,
  either,
  isSet,
  not,
  panelIs,
  resourceIsIn,
  rowIs,
  schemeIs,
  viewIs,
} from '../../../../src/editor/manifest/menus';

it('writes conditions as the editor reads them', () => {
  expect(all(viewIs(['tasks']), isSet('hasPacks'), not(isSet('tasksAreFiltered')))).toBe(
    'view == tandem.tasks && tandem.hasPacks && !tandem.tasksAreFiltered',
  );
  expect(rowIs(['newTask', 'draftTask'])).toBe(String.raw`viewItem =~ /^tandem\.(newTask|draftTask)$/`);
  expect(schemeIs('file', 'vscode-remote')).toBe('resourceScheme =~ /^(file|vscode-remote)$/');
  expect(panelIs('session')).toBe("activeWebviewPanelId == 'tandem.session'");
});

it('puts brackets where a condition would otherwise mean something else', () => {
  expect(not(resourceIsIn('breakingAnswers'))).toBe('!(resource in tandem.breakingAnswers)');
  const trusted = either(editor('isWorkspaceTrusted'), not(editor('isWorkspaceTrustEnabled')));
  expect(all(IN_FOLDER, trusted)).toBe(
    'workspaceFolderCount > 0 && (isWorkspaceTrusted || !isWorkspaceTrustEnabled)',
  );
  expect(not(trusted)).toBe('!(isWorkspaceTrusted || !isWorkspaceTrustEnabled)');
});
