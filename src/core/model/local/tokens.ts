import { openChatFiles } from './chat';

/** Counts tokens as a model folder's own tokenizer does, without loading the model. */
export class TokenCounter {
  readonly #tokenizer: ReturnType<typeof openChatFiles>['tokenizer'];

  /** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
  constructor(folder: string) {
    this.#tokenizer = openChatFiles(folder).tokenizer;
  }

  count(text: string): number {
    return text === '' ? 0 : this.#tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  }
}
