import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { pageHost } from '../../scripts/workbench/browser.mjs';
import { ensureWorkbench } from '../../scripts/workbench/install.mjs';
import {
  calmSettings,
  installExtension,
  installFolder,
  startServer,
  testEnvironment,
  testFlags,
  workbenchAddress,
  writeSettings,
  type Server,
} from '../../scripts/workbench/server.mjs';
import { openBrowser } from './browser';
import { startConnection } from './connection';
import { WorkbenchDriver } from './driver';
import { themeSettings } from './themes';

export interface WorkbenchOptions {
  /** The working folder that is loaded as an extension, absolute; or a package to install, as a user does. */
  readonly extension: string | { readonly vsix: string };
  /** Folders of further extensions, absolute. */
  readonly others?: readonly string[];
  /** The folder that is opened, or the `.code-workspace` file that names several; absolute. */
  readonly workspace: string;
  /** User settings in addition to the default ones of the tests. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Folder of user data that outlives the workbench, for a test that starts it twice; by default a temporary one. */
  readonly userData?: string;
  /** The folder is not trusted until a person trusts it; by default all folders are trusted. */
  readonly isRestricted?: boolean;
  /** Variables of the extension host besides those of the test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Seconds that the server waits for a page that lost its connection; by default it drops the page at once. */
  readonly grace?: number;
}

const untrusted = {
  'security.workspace.trust.enabled': true,
  'security.workspace.trust.startupPrompt': 'never',
};

/**
 * Starts a workbench server and a browser that shows it with the extension and the workspace.
 * Whatever fails on the way, nothing that was started stays behind.
 *
 * @throws SetupFault when the workbench or the browser cannot be installed or started
 */
export async function startWorkbench(options: WorkbenchOptions): Promise<WorkbenchDriver> {
  const installed = await ensureWorkbench();
  const temporary = await mkdtemp(path.join(os.tmpdir(), 'tandem-workbench-'));
  const userData = options.userData ?? temporary;
  await using started = new AsyncDisposableStack();
  started.defer(() => rm(temporary, { recursive: true, force: true, maxRetries: 5 }));

  const settings = {
    ...calmSettings,
    ...themeSettings,
    // This speeds up the start; tests of the chat enable it.
    'chat.disableAIFeatures': true,
    // Reduced motion keeps pictures free of fading elements.
    'workbench.reduceMotion': 'on',
    // An earlier action may move the focus late, which would close a list that a test has opened since.
    'workbench.quickOpen.closeOnFocusLost': false,
    // The guidelines are a second webview, which most tests would have to distinguish from the session.
    'tandem.session.openGuidelines': false,
    ...(options.isRestricted === true && untrusted),
    ...options.settings,
  };
  writeSettings(userData, settings, { replace: true });
  const { extension, workspace } = options;
  if (typeof extension === 'object') await installExtension(installed, { userData, vsix: extension.vsix });
  for (const other of options.others ?? []) installFolder(userData, other);
  const server = await startServer(installed, {
    userData,
    flags: testFlags(options.grace, typeof extension === 'string'),
    env: { ...testEnvironment, ...options.environment },
    asksForTrust: options.isRestricted === true,
  });
  started.defer(() => server.stop());
  const loaded = typeof extension === 'object' ? {} : { extension };
  const address = workbenchAddress(pageHost, { ...loaded, workspace });
  return await showWorkbench({ server, userData }, address, started.move());
}

/**
 * Starts a browser that shows what a server has.
 * @param shown the server, and its folder of settings and logs
 * @param address of the page, which a browser of the tests reaches by the name `pageHost`
 * @param stack what to end with the browser, or when there is none
 */
export async function showWorkbench(
  { server, userData }: { readonly server: Server; readonly userData: string },
  address: string,
  stack: AsyncDisposableStack,
): Promise<WorkbenchDriver> {
  await using started = stack;
  const connection = await startConnection(server.port);
  started.defer(() => connection.close());
  const { page } = started.use(await openBrowser(connection.port, { width: 1280, height: 800 }));
  const window = { server, userData, connection, page, address };
  const driver = new WorkbenchDriver(window, started.move());
  try {
    await driver.open();
  } catch (error) {
    await driver.screenshot('workbench-did-not-open');
    await driver.close();
    throw error;
  }
  return driver;
}
