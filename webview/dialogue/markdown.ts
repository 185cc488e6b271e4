import highlighter from 'highlight.js/lib/core';
import python from 'highlight.js/lib/languages/python';
import MarkdownIt from 'markdown-it';
import { t } from '../language';
import { withVisibleControls } from './protocol';

highlighter.registerLanguage('python', python);

/**
 * Renders Markdown from an untrusted agent: no HTML, no images (the address of an image can leak data), and links that
 * only the host can open, after it has asked. Code is coloured as Python unless its fence names another language.
 */
const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true }).disable('image');

markdown.validateLink = (address) => /^https:\/\//i.test(address.trim());

markdown.renderer.rules.link_open = (tokens, index) => {
  const address = markdown.utils.escapeHtml(String(tokens[index]?.attrGet('href') ?? ''));
  return `<span role="link" tabindex="0" class="link" data-address="${address}" title="${address}">`;
};
markdown.renderer.rules.link_close = () => '</span>';

// Headings of a message stand below the heading that says who speaks, whatever level the agent gives them.
markdown.renderer.rules.heading_open = () => '<h3>';
markdown.renderer.rules.heading_close = () => '</h3>';

markdown.renderer.rules.fence = (tokens, index) => {
  const { content = '', info = '' } = tokens[index] ?? {};
  return codeBlock(content, info.trim().split(/\s+/)[0] ?? '');
};
markdown.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '', '');

/** Returns safe HTML. */
export function renderMarkdown(source: string): string {
  return markdown.render(withVisibleControls(source));
}

/** Returns safe HTML of a text that is shown as it is. */
export function renderPlain(source: string): string {
  return markdown.utils.escapeHtml(withVisibleControls(source));
}

/** Returns safe HTML of one piece of Python, without a block around it. */
export function renderPython(source: string): string {
  return highlighter.highlight(withVisibleControls(source), { language: 'python', ignoreIllegals: true })
    .value;
}

function codeBlock(code: string, language: string): string {
  const shown = code.replace(/\n$/, '');
  const isPython = ['', 'py', 'python', 'python3'].includes(language.toLowerCase());
  const body = isPython ? renderPython(shown) : markdown.utils.escapeHtml(shown);
  const copy = markdown.utils.escapeHtml(t('Copy the code'));
  return (
    `<div class="code-block"><pre tabindex="0"><code>${body}</code></pre>` +
    `<button type="button" class="icon copy" title="${copy}" aria-label="${copy}">` +
    '<span class="codicon codicon-copy" aria-hidden="true"></span></button></div>'
  );
}
