import {
  maySee,
  type GenerateOptions,
  type Generation,
  type Model,
  type SamplingSettings,
} from '../model/model';
import { outlineInWords } from '../page/outlineWords';
import type { PageReader } from '../page/outline';
import type { Shown } from '../trajectory/event';
import { bothPages, type PageRulesPosition } from './pageRules';
import type { Prompts } from './prompts';

/** Pictures of a draft and of the wanted page that a simulator was shown. */
export interface ShownPictures {
  /** PNG. */
  readonly draft: Buffer;
  readonly wanted: Buffer;
  /** Names what drew them. */
  readonly renderer: string;
}

export interface PageRequest {
  readonly shown: Shown;
  readonly pictures?: ShownPictures;
  readonly generate: (sampling: SamplingSettings, options: GenerateOptions) => Promise<Generation>;
}

/**
 * What a model is asked about a draft, as in ColBench: an instruction, the draft and the wanted page, and neither the
 * description nor the dialogue. A model that sees gets pictures, another one the outlines in words.
 *
 * @returns what is replied to a message without a page in place of a request
 * @throws {Fault} as `PageReader` and `SeeingModel.sees`
 */
export async function pageRequest(
  position: PageRulesPosition,
  {
    model,
    prompts,
    pages,
    signal,
  }: { model: Model; prompts: Prompts; pages: PageReader; signal?: AbortSignal },
): Promise<PageRequest | { readonly text: string }> {
  const { replyLimit } = position;
  if (pages.pictureOf !== undefined && maySee(model) && (await model.sees(signal))) {
    const pictures = await bothPages(position, (html) => pages.pictureOf!(html));
    if ('text' in pictures) return pictures;
    const content = prompts.renderParts('simulator-page.md', { ...pictures, replyLimit });
    return {
      shown: 'pictures',
      pictures: { ...pictures, renderer: await pages.name() },
      generate: (...options) => model.generate([{ role: 'user', content }], ...options),
    };
  }
  const outlines = await bothPages(position, async (html) => outlineInWords(await pages.outlineOf(html)));
  if ('text' in outlines) return outlines;
  const content = prompts.render('simulator-outline.md', { ...outlines, replyLimit });
  return {
    shown: 'outlines',
    generate: (...options) => model.generate([{ role: 'user', content }], ...options),
  };
}
