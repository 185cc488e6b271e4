// `npm start` installs what is missing, builds, and opens Tandem on a sample workspace.
import { execFileSync } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

import { run } from './setup/command.mjs';
import { commandLine } from './setup/options.mjs';
import { build, continueInProjectNode, root } from './setup/project.mjs';
import { refreshSample } from './setup/sample.mjs';
import { SetupFault, main, step } from './setup/steps.mjs';
import { onPath } from './setup/system.mjs';
import { ensureWorkbench } from './workbench/install.mjs';
import {
  calmSettings,
  forgetManifests,
  installFolder,
  startServer,
  workbenchAddress,
  writeSettings,
} from './workbench/server.mjs';

/** Default port; each start tries the same one, because the browser keeps consent and layout by address. */
const usualPort = 41170;

const help = `npm start [-- OPTIONS] [FOLDER]

Opens Tandem on FOLDER, by default a sample workspace in .sample/ that keeps your dialogues.
Desktop VS Code is used where its \`code\` command is there, otherwise a workbench in the browser.

  --browser     use the browser workbench in any case
  --port PORT   of the browser workbench; by default ${usualPort}, or any free one when that is taken; 0: any free one
  --prepare     only install, build and refresh the sample workspace; with --browser also install the workbench
  --help        show this`;

/** The oldest desktop VS Code that runs Tandem (\`engines\` in package.json). */
const oldestCode = [1, 110];

await main(async () => {
  const options = wanted();
  if (options === undefined) return 0;
  const other = await continueInProjectNode();
  if (other !== undefined) return other;

  await build();
  const workspace = options.folder ?? path.join(root, '.sample', 'workspace');
  if (options.folder === undefined) refreshSample(path.join(root, 'samples', 'workspace'), workspace);
  if (options.prepare) {
    if (options.browser) await ensureWorkbench();
    return 0;
  }

  const code = options.browser ? undefined : desktopCode();
  return code === undefined ? openInBrowser(workspace, options.port) : openInDesktop(code, workspace);
});

/**
 * @returns {{browser: boolean, prepare: boolean, port: number | undefined, folder: string | undefined} | undefined} undefined: only help was asked for
 * @throws {SetupFault} for an option or a folder that does not exist, or a wrong port
 */
function wanted() {
  const { values, positionals } = commandLine(
    {
      browser: { type: 'boolean', default: false },
      port: { type: 'string' },
      prepare: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
    help,
  );
  if (values.help) {
    console.log(help);
    return undefined;
  }
  const port = values.port === undefined ? undefined : portNumber(values.port);
  const folder = positionals[0] === undefined ? undefined : path.resolve(positionals[0]);
  if (folder !== undefined && !existsSync(folder)) throw new SetupFault(`There is no folder ${folder}.`);
  return { browser: values.browser, prepare: values.prepare, port, folder };
}

/** @param {string} text @returns {number} @throws {SetupFault} when it is none */
function portNumber(text) {
  const port = Number(text);
  if (Number.isInteger(port) && (port === 0 || port >= 1024) && port <= 65535) return port;
  throw new SetupFault(`--port takes a number from 1024 to 65535, or 0 for any free one, not "${text}".`);
}

/**
 * @returns {string | undefined} the `code` command; undefined when it is missing, cannot show a window or is too old
 */
function desktopCode() {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (process.platform === 'linux' && DISPLAY === undefined && WAYLAND_DISPLAY === undefined)
    return undefined;
  const code = onPath('code');
  if (code === undefined) return undefined;
  const version = codeVersion(code);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestCode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return code;
  console.log(
    `${code} is ${version}; Tandem needs ${oldestCode.join('.')} or newer, so the browser is used.`,
  );
  return undefined;
}

/** @param {string} code @returns {string} for example `1.139.1` */
function codeVersion(code) {
  try {
    const output = execFileSync(code, ['--version'], {
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    return output.split('\n')[0] ?? '';
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return `a version that does not tell its number (${reason ?? ''})`;
  }
}

/**
 * @param {string} code
 * @param {string} workspace
 * @returns {Promise<number>} exit status
 */
function openInDesktop(code, workspace) {
  console.log(`Opening ${workspace} in VS Code.`);
  return run(code, ['--new-window', `--extensionDevelopmentPath=${root}`, workspace], { cwd: root });
}

/**
 * Shows the workbench until the command is interrupted.
 *
 * @param {string} workspace
 * @param {number | undefined} wantedPort undefined means the default one, or any free one when that is taken
 * @returns {Promise<number>} exit status
 */
async function openInBrowser(workspace, wantedPort) {
  const workbench = await ensureWorkbench();
  const userData = path.join(root, '.sample', 'user-data');
  const isTaken = !(await isFree(wantedPort ?? usualPort));
  if (isTaken && wantedPort !== undefined) {
    throw new SetupFault(`Port ${wantedPort} is taken: choose another with --port, or leave it out.`);
  }
  const port = isTaken ? 0 : (wantedPort ?? usualPort);
  // The sample's README, which is shown first, explains how to begin.
  writeSettings(userData, { ...calmSettings, 'workbench.startupEditor': 'readme' }, { replace: false });
  installFolder(userData, root);
  // After a change of the manifest, a reload of the window shows new commands.
  watch(root, (_, name) => {
    if (name !== null && /^package(\.nls.*)?\.json$/.test(name)) forgetManifests(userData);
  }).unref();
  const server = await step('Starting the workbench', () => startServer(workbench, { userData, port }));
  const address = workbenchAddress(`127.0.0.1:${server.port}`, { workspace });
  console.log(`\nOpen this address in your browser:\n  ${address}`);
  console.log(`\nThe workspace is ${workspace}\nCtrl+C ends Tandem.`);
  await server.ended;
  throw new SetupFault(`The workbench server ended. Its log is ${path.join(userData, 'server.log')}.`);
}

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
