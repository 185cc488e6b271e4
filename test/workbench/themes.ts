import type { BrowserContextOptions, Page } from 'playwright-core';

/** System preferences that make the workbench show a theme, and the workbench's class in that theme. */
const themes = {
  light: { colorScheme: 'light', isHighContrast: false, style: 'vs' },
  dark: { colorScheme: 'dark', isHighContrast: false, style: 'vs-dark' },
  'hc-dark': { colorScheme: 'dark', isHighContrast: true, style: 'hc-black' },
  'hc-light': { colorScheme: 'light', isHighContrast: true, style: 'hc-light' },
} as const;

export type Theme = keyof typeof themes;

/**
 * True when pictures are taken for people to look at. The pages draw for nearly half of the suite's time, so without it
 * a state is drawn only in the themes in which its contrast is checked.
 */
export const forPeople = process.env.TANDEM_PICTURES === '1';

/** Themes of pictures. The last one is dark, in which the test continues. */
export const usualThemes: readonly Theme[] = forPeople ? ['light', 'hc-dark', 'dark'] : ['light', 'dark'];
export const allThemes: readonly Theme[] = forPeople
  ? ['light', 'hc-light', 'hc-dark', 'dark']
  : ['light', 'hc-dark', 'dark'];

/** Settings with which the workbench follows the system's theme. */
export const themeSettings = { 'window.autoDetectColorScheme': true };
export const inDark: BrowserContextOptions = { colorScheme: 'dark' };

/** Switches the system's theme, and waits until the workbench shows it. */
export async function switchTheme(page: Page, theme: Theme): Promise<void> {
  const { colorScheme, isHighContrast, style } = themes[theme];
  await page.emulateMedia({ colorScheme });
  await page.evaluate(preferHighContrast, isHighContrast);
  await page.locator(`.monaco-workbench.${style}`).waitFor();
}

/** The contrast that the page reports to the workbench. */
declare global {
  interface Window {
    systemContrast?: EventTarget & { matches: boolean; readonly media: string };
  }
}

/**
 * Answers the workbench's media query for high contrast; runs in the page before its own scripts. The browser could
 * answer it, but would then override all colors of a webview.
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
 * Disables animations of the workbench outside of webviews; runs in the page before its own scripts. An animated
 * progress bar would redraw the whole page for each of its steps while a test waits.
 */
export function keepStill(): void {
  if (window !== window.top) return;
  const still = new CSSStyleSheet();
  still.replaceSync('*, ::before, ::after { animation: none !important; transition: none !important; }');
  document.adoptedStyleSheets.push(still);
}
