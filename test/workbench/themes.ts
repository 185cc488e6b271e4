import type { BrowserContextOptions, Page } from 'playwright-core';

/** What the system prefers for the workbench to show a theme, and the class that the workbench then has. */
const themes = {
  light: { colorScheme: 'light', isHighContrast: false, style: 'vs' },
  dark: { colorScheme: 'dark', isHighContrast: false, style: 'vs-dark' },
  'hc-dark': { colorScheme: 'dark', isHighContrast: true, style: 'hc-black' },
  'hc-light': { colorScheme: 'light', isHighContrast: true, style: 'hc-light' },
} as const;

export type Theme = keyof typeof themes;

/** In which pictures are taken. Both end in dark, in which the test then goes on. */
export const usualThemes: readonly Theme[] = ['light', 'hc-dark', 'dark'];
export const allThemes: readonly Theme[] = ['light', 'hc-light', 'hc-dark', 'dark'];

/** The settings and the page with which the workbench follows the system; it begins in dark. */
export const themeSettings = { 'window.autoDetectColorScheme': true };
export const inDark: BrowserContextOptions = { colorScheme: 'dark' };

/** Switches the theme, as the system does by day and by night, and waits until the workbench shows it. */
export async function switchTheme(page: Page, theme: Theme): Promise<void> {
  const { colorScheme, isHighContrast, style } = themes[theme];
  await page.emulateMedia({ colorScheme });
  await page.evaluate(preferHighContrast, isHighContrast);
  await page.locator(`.monaco-workbench.${style}`).waitFor();
}

/** What the page knows of the system's contrast. */
declare global {
  interface Window {
    systemContrast?: EventTarget & { matches: boolean; readonly media: string };
  }
}

/**
 * Runs in the page before its own scripts: a test answers the query by which the workbench asks for high contrast. The
 * browser could answer it, but would then give colors of its own to all that a webview draws.
 */
export function answerForContrast(): void {
  const media = '(forced-colors: active)';
  const answer = Object.assign(new EventTarget(), { media, matches: false });
  const ask = window.matchMedia.bind(window);
  window.systemContrast = answer;
  window.matchMedia = (query) => (query === media ? (answer as unknown as MediaQueryList) : ask(query));
}

function preferHighContrast(isHighContrast: boolean): void {
  const answer = window.systemContrast!;
  if (answer.matches === isHighContrast) return;
  answer.matches = isHighContrast;
  answer.dispatchEvent(new Event('change'));
}

/**
 * Runs in the page before its own scripts: in the workbench around the webviews nothing moves by itself. A bar that moves while
 * something is at work would have the whole page drawn anew for each of its steps, as long as a test waits.
 */
export function keepStill(): void {
  if (window !== window.top) return;
  const still = new CSSStyleSheet();
  still.replaceSync('*, ::before, ::after { animation: none !important; transition: none !important; }');
  document.adoptedStyleSheets.push(still);
}
