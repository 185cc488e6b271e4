// Starts the browser of the tests: the system's Chromium, restricted to 127.0.0.1.
import path from 'node:path';

import { chromium as playwright } from 'playwright-core';

import { results } from '../setup/project.mjs';
import { browserPackage, chromium, ensureSystemPackages } from '../setup/system.mjs';

const args = [
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
  '--no-first-run',
  '--no-default-browser-check',
  '--metrics-recording-only',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,DialMediaRouteProvider',
];

/**
 * Host name under which a page has the same address on any port, so that the browser's stored data serve the next
 * server, too.
 */
export const pageHost = 'tandem.localhost:8000';

/** @param {string[]} rules mappings of other host names */
const onlyHere = (...rules) =>
  `--host-resolver-rules=${[...rules, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1'].join(' , ')}`;

/** Ensures that a Chromium is installed. */
export function ensureBrowser() {
  return ensureSystemPackages('The tests in a browser', [browserPackage], path.join(results, 'apt.log'));
}

/** @returns {Promise<import('playwright-core').Browser>} */
export async function launchBrowser() {
  return playwright.launch({ ...(await found()), args: [...args, onlyHere()] });
}

/**
 * Opens a browser with a profile folder, as a user's browser has.
 *
 * @param {string} profile the profile folder
 * @param {number} port the port on 127.0.0.1 to which `pageHost` leads
 * @param {import('playwright-core').BrowserContextOptions} options
 * @returns {Promise<import('playwright-core').BrowserContext>} a context whose closing closes the browser
 */
export async function launchProfile(profile, port, options) {
  return playwright.launchPersistentContext(profile, {
    ...options,
    ...(await found()),
    args: [...args, onlyHere(`MAP ${pageHost} 127.0.0.1:${port}`)],
  });
}

async function found() {
  await ensureBrowser();
  const executablePath = chromium();
  return { headless: true, ...(executablePath && { executablePath }) };
}
