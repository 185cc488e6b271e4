// The browser of the tests: the system's Chromium, which may reach 127.0.0.1 and nothing else.
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

/** By this name a page has the same address whatever port its server has: what a browser keeps of it serves the next one. */
export const pageHost = 'tandem.localhost:8000';

/** @param {string[]} rules where other names lead */
const onlyHere = (...rules) =>
  `--host-resolver-rules=${[...rules, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1'].join(' , ')}`;

/** Sees to it that there is a Chromium to drive. */
export function ensureBrowser() {
  return ensureSystemPackages('The tests in a browser', [browserPackage], path.join(results, 'apt.log'));
}

/** @returns {Promise<import('playwright-core').Browser>} */
export async function launchBrowser() {
  return playwright.launch({ ...(await found()), args: [...args, onlyHere()] });
}

/**
 * Opens a browser with a folder of its own, as a person has.
 *
 * @param {string} profile the folder
 * @param {number} port to which `pageHost` leads, on 127.0.0.1
 * @param {import('playwright-core').BrowserContextOptions} options
 * @returns {Promise<import('playwright-core').BrowserContext>} closes the browser with itself
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
