import { html, nothing, type TemplateResult } from 'lit';
import type { CanvasElement } from '../chart/canvas';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { linkButton } from '.';
import type { PageFile, SaveMessage } from './protocol';

interface SaveButtons {
  /** Title of the picture, and proposed file name. */
  readonly name: string;
  /** Absent while there is only a table. */
  readonly picture?: (button: Element) => CanvasElement | null;
  /** Absent where the numbers are saved elsewhere. */
  readonly csv?: () => string;
}

export function saveButtons({ name, picture, csv }: SaveButtons): TemplateResult {
  const savePicture = ({ currentTarget }: Event): void => {
    const content = picture?.(currentTarget as Element)?.png(name);
    if (content !== undefined) save({ name, kind: 'png', content });
  };
  return html`<p class="saving">
    ${picture === undefined ? nothing : linkButton(t('Save as PNG…'), savePicture, name)}
    ${
      csv === undefined
        ? nothing
        : linkButton(t('Save as CSV…'), () => save({ name, kind: 'csv', content: csv() }))
    }
  </p>`;
}

const save = (file: PageFile): void => editorApi<SaveMessage, unknown>().postMessage({ type: 'save', file });
