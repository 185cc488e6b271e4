import type { Tokenizer } from '@huggingface/tokenizers';
import { ChatFiles } from './chat';

export interface TokenText {
  /** U+FFFD if the token is part of a character. */
  readonly text: string;
  readonly bytes: readonly number[];
}

/** Special tokens included. */
export class TokenTexts {
  readonly #tokenizer: Tokenizer;
  readonly #isByteLevel: boolean;
  readonly #known = new Map<number, TokenText>();

  /** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
  constructor(folder: string) {
    this.#tokenizer = new ChatFiles(folder).tokenizer;
    this.#isByteLevel = JSON.stringify(this.#tokenizer.decoder?.config ?? null).includes('"ByteLevel"');
  }

  /** An id of a padded vocabulary, unknown to the tokenizer, has no text. */
  of(id: number): TokenText {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const bytes = this.#bytesOf(id);
    const text = { text: bytes.toString('utf8'), bytes: [...bytes] };
    this.#known.set(id, text);
    return text;
  }

  #bytesOf(id: number): Buffer {
    const added = this.#tokenizer.get_added_tokens_decoder().get(id)?.content;
    if (added !== undefined) return Buffer.from(added);
    const written = this.#tokenizer.id_to_token(id) ?? '';
    if (this.#isByteLevel) {
      const bytes = Array.from(written, (sign) => byteOfSign.get(sign));
      return Buffer.from(bytes.filter((byte) => byte !== undefined));
    }
    // SentencePiece writes a space as U+2581 and a byte of an unknown character as <0xE2>.
    const [, byte] = /^<0x([\dA-F]{2})>$/.exec(written) ?? [];
    return byte === undefined ? Buffer.from(written.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex');
  }
}

/**
 * GPT-2's byte-level vocabulary: printable characters of Latin-1 are bytes themselves, and the other bytes have the
 * signs from U+0100 on.
 */
const byteOfSign: ReadonlyMap<string, number> = new Map(
  (() => {
    const isPrintable = (byte: number): boolean =>
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    let others = 0;
    return Array.from({ length: 256 }, (_, byte): [string, number] => [
      String.fromCodePoint(isPrintable(byte) ? byte : 0x100 + others++),
      byte,
    ]);
  })(),
);
