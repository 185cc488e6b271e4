import type { ChatMessage } from '../../model';

const LEADING_COMMENT = /^\s*<!--[\s\S]*?-->\s*/;
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * The conversation with the hidden information in front of its first request, as `Template.view` of the trainer has it.
 * @param prompt text with `{{hiddenInformation}}`, such as critic.md
 */
export function withHiddenInformation(
  messages: readonly ChatMessage[],
  hiddenInformation: string,
  prompt: string,
): readonly ChatMessage[] {
  const values: Readonly<Record<string, string>> = { hiddenInformation };
  const told = prompt
    .replace(/^\uFEFF/, '')
    .replace(LEADING_COMMENT, '')
    .replace(PLACEHOLDER, (_, name: string) => values[name.trim()]!)
    .trim();
  const first = messages.findIndex(({ role }) => role === 'user');
  return messages.map((message, index) =>
    index === first ? { role: 'user', content: `${told}\n\n${message.content}` } : message,
  );
}
