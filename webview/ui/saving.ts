import { html, nothing, type TemplateResult } from 'lit';
import type { CanvasElement } from '../chart/canvas';
import { t } from '../language';
import { linkButton } from '.';
import type { PageFile } from './protocol';

interface SaveButtons {
  /** Title of the picture, and proposed file name. */
  readonly name: string;
  /** Absent while there is only a table. */
  readonly picture?: (button: Element) => CanvasElement | null;
  /** Absent where the numbers are saved elsewhere. */
  readonly csv?: () => string;
  readonly onSave: (file: PageFile) => void;
}

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
