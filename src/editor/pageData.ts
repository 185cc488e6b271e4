/**
 * Data in a page, as an element that nothing in the data can end: without a `<` there is no end tag and no comment in
 * it. The browser does not run it, whatever the page's policy allows.
 */
export function pageData(id: string, data: unknown): string {
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
  return `<script type="application/json" id="${id}">${json}</script>`;
}
