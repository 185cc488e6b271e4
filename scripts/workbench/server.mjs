// Starts and stops a workbench server, and says under which address it shows what.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { runLogged } from '../setup/command.mjs';
import { SetupFault } from '../setup/steps.mjs';

/** How long a server may take until it answers, in milliseconds. */
const startLimit = 90_000;

/** A first view that is about the opened folder only, without updates and telemetry. */
export const calmSettings = {
  'workbench.startupEditor': 'none',
  'editor.minimap.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.enabled': false,
  'git.enabled': false,
  'git.autofetch': false,
  'npm.autoDetect': 'off',
  'typescript.disableAutomaticTypeAcquisition': true,
  'json.schemaDownload.enable': false,
  'http.proxySupport': 'off',
  'remote.autoForwardPorts': false,
};

/**
 * For a server that a test starts: it forgets a closed page at once and knows no marketplace. With the smoke-test driver
 * its page takes an extension from its address (`workbenchAddress`), and shows notifications in their list only.
 *
 * @param {number} [grace] how long it waits for a page whose connection is lost, in seconds
 * @param {boolean} [hasDriver] a server without the driver shows notifications as a person's does
 */
export const testFlags = (grace = 1, hasDriver = true) => [
  ...['--reconnection-grace-time', String(grace)],
  ...(hasDriver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
];
export const testEnvironment = { EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: '' }) };

/** Variables of the process that starts the server that would change what the server does. */
const foreign =
  /^(VSCODE_|CODE_SERVER_|npm_|VITEST|ELECTRON_|(PORT|PASSWORD|HASHED_PASSWORD|NODE_ENV|NODE_OPTIONS)$)/;

/**
 * @typedef {object} Server
 * @property {number} port on 127.0.0.1
 * @property {number} group the process group in which everything runs that it started
 * @property {Promise<void>} ended resolves when the server is gone, whatever ended it
 * @property {() => Promise<void>} stop ends the server and everything it started
 */

/**
 * Starts a workbench server on 127.0.0.1 and waits until it answers.
 *
 * @param {import('./install.mjs').Workbench} workbench
 * @param {object} options
 * @param {string} options.userData folder of settings and logs
 * @param {number} [options.port] 0: any free one
 * @param {readonly string[]} [options.flags] of code-server, besides the usual
 * @param {NodeJS.ProcessEnv} [options.env] variables besides those of this process
 * @param {boolean} [options.asksForTrust] folders are not trusted until a person says so; by default all are
 * @returns {Promise<Server>}
 * @throws {SetupFault} when it does not come up, with the end of its log
 */
export async function startServer(
  workbench,
  { userData, port = 0, flags = [], env = {}, asksForTrust = false },
) {
  mkdirSync(userData, { recursive: true });
  const log = path.join(userData, 'server.log');
  const output = openSync(log, 'w');
  const leash = fileURLToPath(new URL('leash.mjs', import.meta.url));
  const child = spawn(
    workbench.node,
    [
      ...[leash, workbench.node, workbench.entry, ...codeServerFlags(userData, port)],
      ...(asksForTrust ? [] : ['--disable-workspace-trust']),
      ...flags,
    ],
    { cwd: userData, env: { ...ownEnvironment(), ...env }, stdio: ['pipe', output, output], detached: true },
  );
  closeSync(output);
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async () => {
    child.stdin?.end();
    await ended;
  };
  const found = await waitUntilHealthy(log, ended);
  if (found !== undefined && child.pid !== undefined) return { port: found, group: child.pid, ended, stop };
  await stop();
  const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n  ');
  throw new SetupFault(`The workbench server did not start. The end of ${log}:\n  ${tail}`);
}

/** @param {string} userData @param {number} port @returns {string[]} */
function codeServerFlags(userData, port) {
  return [
    ...['--config', '/dev/null'],
    ...['--user-data-dir', userData],
    ...['--extensions-dir', extensionsOf(userData)],
    ...['--auth', 'none'],
    ...['--bind-addr', `127.0.0.1:${port}`],
    '--disable-telemetry',
    '--disable-update-check',
    '--disable-getting-started-override',
    '--disable-proxy',
    '--ignore-last-opened',
  ];
}

/** @param {string} userData @returns {string} */
const extensionsOf = (userData) => path.join(userData, 'extensions');

/**
 * Installs a package as a person does who was given the file.
 *
 * @param {import('./install.mjs').Workbench} workbench
 * @param {{userData: string, vsix: string}} what settings and extensions of the workbench, and the package's file
 * @returns {Promise<void>}
 * @throws {SetupFault} with the end of what the workbench said
 */
export async function installExtension(workbench, { userData, vsix }) {
  mkdirSync(userData, { recursive: true });
  const folders = ['--user-data-dir', userData, '--extensions-dir', extensionsOf(userData)];
  await runLogged(workbench.node, [workbench.entry, ...folders, '--install-extension', vsix], {
    cwd: userData,
    env: { ...ownEnvironment(), ...testEnvironment },
    log: path.join(userData, 'install-extension.log'),
  });
}

/**
 * Installs a working folder where it stands, as *Developer: Install Extension from Location…* does. Each window reads the
 * folder itself, and uninstalling leaves it alone. The person's other extensions stay.
 *
 * @param {string} userData settings and extensions of the workbench
 * @param {string} folder of an extension, absolute
 * @throws {SetupFault} when the list of extensions there cannot be read
 */
export function installFolder(userData, folder) {
  const list = listOfExtensions(userData);
  const { publisher, name, version } = manifestOf(folder);
  const id = `${publisher}.${name}`;
  const others = installedIn(list).filter(({ identifier }) => identifier.id !== id);
  const location = { $mid: 1, scheme: 'file', path: folder };
  const own = { identifier: { id }, version, location, metadata: { source: 'resource' } };
  mkdirSync(path.dirname(list), { recursive: true });
  writeFileSync(list, JSON.stringify([...others, own]));
}

/**
 * Has the server read the manifests anew for the next window: it remembers them until the list of extensions is touched.
 *
 * @param {string} userData
 */
export function forgetManifests(userData) {
  const now = new Date();
  utimesSync(listOfExtensions(userData), now, now);
}

/** @param {string} userData @returns {string} */
const listOfExtensions = (userData) => path.join(extensionsOf(userData), 'extensions.json');

/** @param {string} folder */
function manifestOf(folder) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return /** @type {{publisher: string, name: string, version: string}} */ (manifest);
}

/** @param {string} list @returns {{identifier: {id: string}}[]} */
function installedIn(list) {
  if (!existsSync(list)) return [];
  try {
    /** @type {unknown} */
    const installed = JSON.parse(readFileSync(list, 'utf8'));
    return /** @type {{identifier: {id: string}}[]} */ (installed);
  } catch (error) {
    throw new SetupFault(`${list} is not JSON: remove it and run the command again.`, { cause: error });
  }
}

function ownEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

/**
 * @param {string} log in which the server writes its port
 * @param {Promise<void>} ended when the server is gone
 * @returns {Promise<number | undefined>} the port, undefined when the server is gone or the time is up
 */
async function waitUntilHealthy(log, ended) {
  const server = { gone: false };
  void ended.then(() => (server.gone = true));
  const started = performance.now();
  while (!server.gone && performance.now() - started < startLimit) {
    const port = /HTTP server listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(log, 'utf8'))?.[1];
    if (port !== undefined && (await healthy(Number(port)))) return Number(port);
    await pause(100);
  }
  return undefined;
}

/** @param {number} port @returns {Promise<boolean>} */
async function healthy(port) {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
  } catch (error) {
    // Not listening yet shows as a failed connection; anything else is a fault of the caller.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * Writes the user's settings; those that are there already stay as they are unless `replace`.
 *
 * @param {string} userData
 * @param {Record<string, unknown>} settings
 * @param {{replace: boolean}} options
 */
export function writeSettings(userData, settings, { replace }) {
  const file = path.join(userData, 'User', 'settings.json');
  if (!replace && existsSync(file)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
}

/**
 * @param {string} host by which a browser reaches the server, with the port
 * @param {object} shown
 * @param {string} [shown.extension] a working folder that is loaded as an extension, by a server with `testFlags`
 * @param {string} [shown.tests] a module with `run()` that the extension host calls
 * @param {string} [shown.workspace] the folder that is opened, or a `.code-workspace` file
 * @returns {string} the page's address
 */
export function workbenchAddress(host, { extension, tests, workspace }) {
  const payload = [];
  if (extension !== undefined) {
    payload.push(['extensionDevelopmentPath', `vscode-remote://${host}${extension}`]);
  }
  if (tests !== undefined) payload.push(['extensionTestsPath', `vscode-remote://${host}${tests}`]);
  const query = new URLSearchParams(payload.length === 0 ? {} : { payload: JSON.stringify(payload) });
  if (workspace !== undefined) {
    query.set(workspace.endsWith('.code-workspace') ? 'workspace' : 'folder', workspace);
  }
  return `http://${host}/?${query.toString()}`;
}
