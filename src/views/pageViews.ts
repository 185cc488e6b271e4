import path from 'node:path';
import type { DraftView, PageView } from '../../webview/pages/protocol';
import { cleanPage } from '../core/page/cleanPage';
import { messageOf } from '../core/fault';
import { draftOf } from '../core/dialogue/drafts';
import { parseAgentMessage } from '../core/dialogue/protocol';

/** Makes a page safe to be drawn in a view, or says why it cannot be drawn. */
export type DrawPage = (source: string) => PageView;

/** Pages that are kept: a view gets the wanted page and each draft again with every change. */
const MAX_KEPT = 64;

const MAX_SOURCE_CHARS = 50_000;

/** @param dist folder of the built extension, which holds Tailwind's sheet */
export function pageDrawer(dist: string): DrawPage {
  const sheet = path.join(dist, 'pages', 'tailwind-2.2.19.css.br');
  const kept = new Map<string, PageView>();
  return (source) => {
    const page = kept.get(source) ?? cleaned(source, sheet);
    // A Map lists its keys in the order of insertion, so the first is the least recently used.
    kept.delete(source);
    kept.set(source, page);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    return page;
  };
}

function cleaned(source: string, sheet: string): PageView {
  try {
    return { html: cleanPage(source, sheet) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** The agent's words without its page, and that page, where the message has a whole one. */
export function wordsAndPage(text: string): { readonly words: string; readonly source?: string } {
  const { visible } = parseAgentMessage(text);
  const source = draftOf(text);
  if (source === undefined) return { words: visible };
  const start = visible.lastIndexOf(source);
  const before = visible
    .slice(0, start)
    .trimEnd()
    .replace(/<!doctype html>$/i, '');
  const after = visible.slice(start + source.length).trimStart();
  const words = [before.trimEnd().replace(/```\w*$/, ''), after.replace(/^```/, '')];
  return {
    words: words
      .map((part) => part.trim())
      .filter(Boolean)
      .join('\n\n'),
    source,
  };
}

export const draftView = (source: string, draw: DrawPage): DraftView => ({
  ...{ page: draw(source), source: source.slice(0, MAX_SOURCE_CHARS), characters: source.length },
});
