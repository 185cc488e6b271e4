import type { DeveloperReply } from '../../core/dialogue/parts';
import type { Draft } from '../../../webview/session/protocol';

/** Whose words a reply has, as the log tells them apart (docs/data.md). Spaces at either end are no change. */
export function authorOf({ text, suggestion }: Draft): Omit<DeveloperReply, 'by' | 'milliseconds'> {
  if (suggestion === undefined) return { author: 'developer' };
  const isEdited = text.trim() !== suggestion.text.trim();
  return {
    author: isEdited ? 'developer-edited-suggestion' : 'developer-sent-suggestion',
    suggestion: suggestion.text,
    suggestedBy: suggestion.by,
  };
}
