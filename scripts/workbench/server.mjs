// Starts and stops workbench servers, and makes the addresses of their pages.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { runLogged } from '../setup/command.mjs';
import { SetupFault } from '../setup/steps.mjs';

/** Time limit for a server's first answer, in milliseconds. */
const startLimit = 300_000;

/** Settings for a first view of the opened folder only, without tips, updates and telemetry. */
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
 * Returns flags for a test's server, which forgets a closed page at once. With the smoke-test driver the page loads an
 * extension named in its address (`workbenchAddress`), and shows notifications only in their list.
 *
 * @param {number} [grace] seconds to wait for a page whose connection is lost
 * @param {boolean} [hasDriver] false: notifications are shown as to a user
 */
export const testFlags = (grace = 1, hasDriver = true) => [
  ...['--reconnection-grace-time', String(grace)],
  ...(hasDriver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
];
/** Turns the marketplace of a test's server off. */
export const testEnvironment = { EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: '' }) };

/** Variables of this process that would change the server's behaviour. */
const foreign =
  /^(VSCODE_|CODE_SERVER_|npm_|VITEST|ELECTRON_|(PORT|PASSWORD|HASHED_PASSWORD|NODE_ENV|NODE_OPTIONS)$)/;

/**
 * @typedef {object} Server
 * @property {number} port the port on 127.0.0.1
 * @property {number} group the process group of everything that it started
 * @property {Promise<void>} ended resolves when the server is gone, for whatever reason
 * @property {() => Promise<void>} stop ends the server and everything it started
 */

/**
 * Starts a workbench server on 127.0.0.1 and waits until it answers.
 *
 * @param {import('./install.mjs').Workbench} workbench
 * @param {object} options
 * @param {string} options.userData the folder of settings and logs
 * @param {number} [options.port] 0 means any free port
 * @param {readonly string[]} [options.flags] additional flags of code-server
 * @param {NodeJS.ProcessEnv} [options.env] variables in addition to those of this process
 * @param {boolean} [options.asksForTrust] true: a folder is trusted only after the user says so; by default all are
 * @returns {Promise<Server>}
 * @throws {SetupFault} with the end of its log, when it does not start
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
 * Installs a package from its file, as a user would.
 *
 * @param {import('./install.mjs').Workbench} workbench
 * @param {{userData: string, vsix: string}} what the folder of settings and extensions, and the package's file
 * @returns {Promise<void>}
 * @throws {SetupFault} with the end of the workbench's output
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
 * Installs a working folder in place, as *Developer: Install Extension from Location…* does. Each window reads the
 * folder itself, and uninstalling does not change it. The user's other extensions are kept.
 *
 * @param {string} userData the folder of settings and extensions
 * @param {string} folder the extension's folder, an absolute path
 * @throws {SetupFault} when the list of installed extensions cannot be read
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
 * Makes the server read the manifests again for the next window; it caches them until the list of extensions is
 * touched.
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
 * @param {string} log the log to which the server writes its port
 * @param {Promise<void>} ended resolves when the server is gone
 * @returns {Promise<number | undefined>} the port; undefined when the server is gone or the time is up
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
    // A TypeError means that the connection failed because the server is not listening yet; other errors are the
    // caller's fault.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * Writes the user's settings; an existing file is kept unless `replace`.
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
 * @param {string} host the host and port by which a browser reaches the server
 * @param {object} shown
 * @param {string} [shown.extension] a working folder to load as an extension, on a server with `testFlags`
 * @param {string} [shown.tests] a module whose `run()` the extension host calls
 * @param {string} [shown.workspace] the folder or `.code-workspace` file to open
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
