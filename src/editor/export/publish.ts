import path from 'node:path';
import { HUB_URL } from '@huggingface/hub';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { publicationOf, type Publication } from '../../core/publish/publication';
import { ownerOf, upload, type Published } from '../../core/publish/upload';
import { isHubToken, isRepository } from '../../core/task/hub';
import type { ApiKeys } from '../servers';
import { cancellable } from '../progress';
import { bytesWords } from '../words';

const { t } = vscode.l10n;

interface PublishContext {
  readonly keys: ApiKeys;
  readonly output: vscode.LogOutputChannel;
}

/**
 * Sends nothing before the person has seen the findings and the destination, and has agreed.
 * @param given the file of an export, or the folder of a model; absent: the person is asked
 */
export async function publish(given: string | undefined, context: PublishContext): Promise<void> {
  const { keys, output } = context;
  const what = given ?? (await askWhat());
  if (what === undefined) return;
  const hubUrl = process.env.HF_ENDPOINT ?? HUB_URL;
  const publication = await cancellable(t('Looking for secrets in what is published'), (signal) =>
    publicationOf(what, signal),
  );
  if (publication === undefined || !(await mayBePublished(publication))) return;
  const accessToken =
    process.env.HF_TOKEN ?? (await keys.forServer(hubUrl)) ?? (await askToken(hubUrl, keys));
  if (accessToken === undefined) return;
  try {
    await send(publication, what, { accessToken, hubUrl }, output);
  } catch (error) {
    if (!(error instanceof Fault) || !TOKEN_FAULTS.has(error.code)) throw error;
    const other = t('Another Token…');
    if ((await vscode.window.showErrorMessage(error.message, other)) !== other) return;
    if ((await askToken(hubUrl, keys)) !== undefined) await publish(what, context);
  }
}

const TOKEN_FAULTS: ReadonlySet<string> = new Set(['publish/forbidden', 'task/bad-token']);

async function send(
  publication: Publication,
  what: string,
  access: { readonly accessToken: string; readonly hubUrl: string },
  output: vscode.LogOutputChannel,
): Promise<void> {
  const repository = await askRepository(publication, what, await ownerOf(access));
  if (repository === undefined) return;
  const isPublic = await askReaders();
  if (isPublic === undefined || !(await isWanted(publication, repository, isPublic))) return;
  const published = await cancellable(t('Publishing {0}', repository), (signal, report) =>
    upload(publication, {
      ...{ ...access, repository, isPublic, signal },
      onProgress: ({ done, total }) =>
        report(t('{0} of {1}', bytesWords(done, t), bytesWords(total, t)), total === 0 ? 1 : done / total),
      onNotice: (sentence) => output.info(sentence),
    }),
  );
  await tell(published);
}

async function mayBePublished({ findings, keptLocal }: Publication): Promise<boolean> {
  if (findings.length > 0) {
    const everything = {
      label: `$(warning) ${t('Publish Everything')}`,
      detail: t('Everything listed below is published unchanged.'),
    };
    const list = findings.map(({ path: name, line, what, excerpt }) => ({
      label: `$(key) ${what}`,
      description: line === undefined ? name : t('{0}, line {1}', name, line),
      detail: excerpt,
    }));
    const heading = { label: t('Found: {0}', findings.length), kind: vscode.QuickPickItemKind.Separator };
    const chosen = await vscode.window.showQuickPick([everything, heading, ...list], {
      title: t('Secrets, E-Mail Addresses and What Cannot Be Searched'),
      placeHolder: t('Nothing is published yet. Take these out of the files first, or publish them.'),
      ignoreFocusOut: true,
    });
    if (chosen !== everything) return false;
  }
  if (keptLocal === 0) return true;
  const anyway = t('Publish Anyway');
  const chosen = await vscode.window.showWarningMessage(
    t('This model learned from {0} dialogues that people keep on this machine.', keptLocal),
    { modal: true, detail: t('It may repeat what they said. Ask these people first.') },
    anyway,
  );
  return chosen === anyway;
}

async function askToken(hubUrl: string, keys: ApiKeys): Promise<string | undefined> {
  const token = await vscode.window.showInputBox({
    title: t('Access Token of the Hugging Face Hub'),
    prompt: t(
      'A token with write access, from your account settings. The editor keeps it in its secret storage.',
    ),
    placeHolder: 'hf_…',
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => (text === '' || isHubToken(text) ? undefined : t('A token begins with "hf_".')),
  });
  if (token === undefined || token.trim() === '') return undefined;
  await keys.set(hubUrl, token.trim());
  return token.trim();
}

async function askRepository(
  { kind }: Publication,
  what: string,
  owner: string,
): Promise<string | undefined> {
  const base = kind === 'dataset' ? path.parse(what).name : path.basename(path.dirname(what));
  const name = base.replaceAll(/[^\w.-]+/g, '-');
  return vscode.window.showInputBox({
    title: kind === 'dataset' ? t('Repository of the Dataset') : t('Repository of the Model'),
    prompt: t('Owner and name on the hub. It is made when there is none.'),
    value: `${owner}/${name}`,
    valueSelection: [owner.length + 1, owner.length + 1 + name.length],
    ignoreFocusOut: true,
    validateInput: (text) =>
      isRepository(text) ? undefined : t('Give an owner and a name, such as ada/dialogues.'),
  });
}

const ONLY_YOU = t('Only you, or your organization, can read it.');
const EVERYONE = t('Everyone can read it, at once.');

/** @returns true for everybody; undefined when nothing was chosen */
async function askReaders(): Promise<boolean | undefined> {
  const choices = [
    { label: `$(lock) ${t('Private')}`, detail: ONLY_YOU, isPublic: false },
    { label: `$(globe) ${t('Public')}`, detail: EVERYONE, isPublic: true },
  ];
  const chosen = await vscode.window.showQuickPick(choices, {
    title: t('Who can read it'),
    placeHolder: t('You can change this on the hub later.'),
    ignoreFocusOut: true,
  });
  return chosen?.isPublic;
}

const LISTED = 12;

async function isWanted(
  { kind, files, bytes }: Publication,
  repository: string,
  isPublic: boolean,
): Promise<boolean> {
  const question =
    kind === 'dataset' ? t('Publish the dataset {0}?', repository) : t('Publish the model {0}?', repository);
  const listed = files.slice(0, LISTED).map((file) => `${file.path} (${bytesWords(file.bytes, t)})`);
  const detail = [
    isPublic ? EVERYONE : ONLY_YOU,
    t('{0} files, {1}:', files.length, bytesWords(bytes, t)),
    ...listed,
    ...(files.length > LISTED ? ['…'] : []),
  ].join('\n');
  const yes = t('Publish');
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, yes)) === yes;
}

async function tell(published: Published | undefined): Promise<void> {
  if (published === undefined) {
    void vscode.window.showInformationMessage(
      t('Publishing was canceled; nothing was published. Large files already uploaded are not sent twice.'),
    );
    return;
  }
  const { url, isPrivate } = published;
  const open = t('Open the Page');
  const sentence = t('Published at {0}. {1}', url, isPrivate ? ONLY_YOU : EVERYONE);
  if ((await vscode.window.showInformationMessage(sentence, open)) === open)
    await vscode.env.openExternal(vscode.Uri.parse(url));
}

async function askWhat(): Promise<string | undefined> {
  const rows = { label: `$(table) ${t('Exported Rows…')}`, detail: t('A file that an export has written') };
  const model = { label: `$(package) ${t('A Model…')}`, detail: t('The folder of a model, with its card') };
  const chosen = await vscode.window.showQuickPick([rows, model], {
    title: t('Publish on the Hugging Face Hub'),
  });
  if (chosen === undefined) return undefined;
  const [uri] =
    (await vscode.window.showOpenDialog({
      openLabel: t('Publish…'),
      canSelectFiles: chosen === rows,
      canSelectFolders: chosen === model,
      ...(chosen === rows && { filters: { [t('Exported rows')]: ['jsonl', 'json'] } }),
    })) ?? [];
  return uri?.fsPath;
}
