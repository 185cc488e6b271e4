// Checks for packages of the operating system, and installs them or says how to.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { runLogged } from './command.mjs';
import { SetupFault, step } from './steps.mjs';

/**
 * @typedef {object} SystemPackage
 * @property {string} what the description for the user
 * @property {string} debian the package's name on Debian and Ubuntu
 * @property {() => boolean} present
 */

/** Packages that compile the native modules of code-server. @type {readonly SystemPackage[]} */
export const buildTools = [
  { what: 'make', debian: 'make', present: () => Boolean(onPath('make')) },
  { what: 'a C++ compiler', debian: 'g++', present: () => Boolean(onPath('g++', 'c++', 'clang++')) },
  { what: 'Python 3', debian: 'python3', present: () => Boolean(onPath('python3')) },
  {
    what: 'the Kerberos headers',
    debian: 'libkrb5-dev',
    // macOS includes them in its SDK.
    present: () => process.platform === 'darwin' || existsSync('/usr/include/gssapi/gssapi.h'),
  },
];

const macBrowsers = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** @type {SystemPackage} */
export const browserPackage = {
  what: 'Chromium or Chrome (TANDEM_CHROMIUM names one that is not on the PATH)',
  debian: 'chromium-headless-shell',
  present: () => chromium() !== undefined,
};

/** Answers that need numpy run under bubblewrap, on Linux only. @type {SystemPackage} */
export const bubblewrapPackage = {
  what: 'bubblewrap',
  debian: 'bubblewrap',
  present: () => process.platform !== 'linux' || Boolean(onPath('bwrap')),
};

/** @returns {string | undefined} the Chromium that the tests drive */
export function chromium() {
  if (process.env.TANDEM_CHROMIUM) return process.env.TANDEM_CHROMIUM;
  return (
    // The headless shell costs less to start and to run.
    onPath(
      'chromium-headless-shell',
      'chromium',
      'google-chrome-stable',
      'google-chrome',
      'chromium-browser',
    ) ?? macBrowsers.find((file) => existsSync(file))
  );
}

/**
 * Ensures that the system has these packages: installs them as root on Debian and its derivatives; elsewhere it throws
 * with advice.
 *
 * @param {string} purpose their purpose, for example `the browser workbench`
 * @param {readonly SystemPackage[]} packages
 * @param {string} log the file for the installer's output
 * @returns {Promise<void>}
 * @throws {SetupFault} with what is missing and the command that installs it
 */
export async function ensureSystemPackages(purpose, packages, log) {
  const missing = packages.filter(({ present }) => !present());
  if (missing.length === 0) return;
  const names = missing.map(({ debian }) => debian);
  const aptGet = isDebian() ? onPath('apt-get') : undefined;
  if (!aptGet || process.getuid?.() !== 0) {
    throw new SetupFault(advice(purpose, missing, aptGet ? names : undefined));
  }
  await step(`Installing system packages (${names.join(', ')})`, async () => {
    const options = { cwd: '/', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, log };
    await runLogged(aptGet, ['update'], options);
    await runLogged(aptGet, ['install', '-y', '--no-install-recommends', ...names], {
      ...options,
      append: true,
    });
  });
  const still = packages.filter(({ present }) => !present());
  if (still.length > 0) throw new SetupFault(advice(purpose, still, undefined));
}

/**
 * @param {string} purpose
 * @param {readonly SystemPackage[]} missing
 * @param {readonly string[] | undefined} names packages for apt-get; undefined where there is no apt-get
 * @returns {string}
 */
export function advice(purpose, missing, names) {
  const what = missing.map((each) => each.what).join(', ');
  const how = names
    ? `run \`sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names.join(' ')}\``
    : 'install it with the package manager of this system';
  return `${purpose} needs what this system does not have: ${what}. To go on, ${how}, then run the command again.`;
}

/** @returns {boolean} whether this is Debian or a derivative */
function isDebian() {
  const release = '/etc/os-release';
  return existsSync(release) && /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync(release, 'utf8'));
}

/**
 * @param {...string} names names of a program, in order of preference
 * @returns {string | undefined} the path of the first one that exists
 */
export function onPath(...names) {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const name of names) {
    for (const folder of folders) {
      for (const ending of endings) {
        const file = path.join(folder, name + ending);
        if (existsSync(file)) return file;
      }
    }
  }
  return undefined;
}
