/**
 * The page in an agent's visible message: the first `<html>…</html>`, else the first `<body>…</body>`. A page without
 * its closing tag is none, because a message that was cut off would otherwise count as a draft.
 */
export function draftIn(message: string): string | undefined {
  return elementIn(message, 'html') ?? elementIn(message, 'body');
}

function elementIn(text: string, name: string): string | undefined {
  const start = text.search(new RegExp(`<${name}(?=[\\s>])`, 'i'));
  if (start < 0) return undefined;
  const end = new RegExp(`</${name}\\s*>`, 'i').exec(text.slice(start));
  return end === null ? undefined : text.slice(start, start + end.index + end[0].length);
}
