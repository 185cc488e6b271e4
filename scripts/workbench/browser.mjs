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
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
];

/** Sees to it that there is a Chromium to drive. */
export function ensureBrowser() {
  return ensureSystemPackages('The tests in a browser', [browserPackage], path.join(results, 'apt.log'));
}

/** @returns {Promise<import('playwright-core').Browser>} */
export async function launchBrowser() {
  await ensureBrowser();
  const executablePath = chromium();
  return playwright.launch({ headless: true, args, ...(executablePath && { executablePath }) });
}
