import { html, nothing, type TemplateResult } from 'lit';
import type { CanvasElement } from '../chart/canvas';
import { t } from '../language';
import { linkButton } from '../ui';
import type { PageFile } from './protocol';

interface SaveButtons {
  /** Title of the picture, and proposed name of the file. */
  readonly name: string;
  /** Finds the picture from the pressed button; absent while there is only a table. */
  readonly picture?: (button: Element) => CanvasElement | null;
  /** Returns the numbers as CSV; absent where they are saved elsewhere. */
  readonly csv?: () => string;
  readonly onSave: (file: PageFile) => void;
}

/** Draws the buttons that save a picture, and its numbers. */
export function saveButtons({ name, picture, csv, onSave }: SaveButtons): TemplateResult {
  const savePicture = ({ currentTarget }: Event): void => {
    const content = picture?.(currentTarget as Element)?.png(name);
    if (content !== undefined) onSave({ name, kind: 'png', content });
  };
  return html`<p class="saving">
    ${picture === undefined ? nothing : linkButton(t('Save as PNG…'), savePicture, name)}
    ${
      csv === undefined
        ? nothing
        : linkButton(t('Save as CSV…'), () => onSave({ name, kind: 'csv', content: csv() }))
    }
  </p>`;
}
