/** The toolkit's elements read the colors of the page again when the class of its body changes. */
export function followTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const contrast = matchMedia('(forced-colors: active)');
  const follow = (): void => {
    const { body } = document;
    body.className = `vscode-${contrast.matches ? 'high-contrast' : dark.matches ? 'dark' : 'light'}`;
    // So that it takes no color of its own where the contrast has none.
    body.dataset.vscodeThemeKind = contrast.matches ? 'vscode-high-contrast' : '';
  };
  follow();
  dark.addEventListener('change', follow);
  contrast.addEventListener('change', follow);
}
