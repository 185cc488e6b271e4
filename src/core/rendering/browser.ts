import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Fault } from '../fault';
import { wordsIn } from '../text';

/** Browsers that are driven by the DevTools protocol, most common first. */
const APPLICATIONS = ['Google Chrome', 'Microsoft Edge', 'Chromium', 'Brave Browser'];

const COMMANDS = wordsIn(`
  google-chrome-stable google-chrome microsoft-edge-stable microsoft-edge
  chromium chromium-browser chromium-headless-shell brave-browser brave
`);

const WINDOWS_PATHS = [
  String.raw`Google\Chrome\Application\chrome.exe`,
  String.raw`Microsoft\Edge\Application\msedge.exe`,
  String.raw`Chromium\Application\chrome.exe`,
  String.raw`BraveSoftware\Brave-Browser\Application\brave.exe`,
];

/**
 * Finds a browser of this machine that can draw pages. Nothing is downloaded.
 * @param named the setting or option that names one; looked for is nothing else then
 * @throws {Fault} `page/no-browser`
 */
export async function findBrowser(named?: string): Promise<string> {
  const candidates = named === undefined || named === '' ? installedPaths() : [named];
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw new Fault(
    'page/no-browser',
    named
      ? `There is no program at ${named}. Name a Chrome, Edge, Chromium or Brave that can be run.`
      : `Pages are drawn by a browser of this machine, and none of ${APPLICATIONS.join(', ')} was found. Install one, or name its program.`,
  );
}

function installedPaths(): readonly string[] {
  const { env, platform } = process;
  if (platform === 'darwin') {
    const folders = ['/Applications', join(env.HOME ?? '', 'Applications')];
    return APPLICATIONS.flatMap((name) =>
      folders.map((folder) => join(folder, `${name}.app`, 'Contents', 'MacOS', name)),
    );
  }
  if (platform === 'win32') {
    const folders = [env.ProgramFiles, env['ProgramFiles(x86)'], env.LOCALAPPDATA];
    return WINDOWS_PATHS.flatMap((path) => folders.flatMap((folder) => (folder ? [join(folder, path)] : [])));
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)));
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
