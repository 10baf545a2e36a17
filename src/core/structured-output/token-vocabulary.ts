/**
 * The bytes of every token, as plain data that crosses the border of the engine process: the engine knows no tokenizer,
 * but to hold an answer to a grammar it has to know how tokens are spelled.
 */
import type {Tokenizer} from '../model/tokenizer.ts';
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';

export type {TokenVocabulary} from '../sampling/token-vocabulary.ts';

/** Ids without an entry have no bytes. */
export function vocabularyOf(tokenizer: Tokenizer): TokenVocabulary {
  const pieces: Uint8Array[] = [];
  const ends = new Uint32Array(tokenizer.vocabSize);
  let length = 0;
  for (let id = 0; id < tokenizer.vocabSize; id++) {
    const bytes = bytesOf(tokenizer, id);
    pieces.push(bytes);
    length += bytes.length;
    ends[id] = length;
  }
  return {bytes: new Uint8Array(Buffer.concat(pieces)), ends, specialTokenIds: [...tokenizer.specialTokenIds]};
}

function bytesOf(tokenizer: Tokenizer, id: number): Uint8Array {
  return tokenizer.tokenBytes(id) ?? spelledBytes(tokenizer.idToToken(id) ?? '');
}

/** Vocabularies of the SentencePiece kind: `▁` is a space, `<0x0A>` one byte. */
function spelledBytes(token: string): Uint8Array {
  const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
  return byte ? Uint8Array.of(Number.parseInt(byte[1]!, 16)) : Buffer.from(token.replaceAll('▁', ' '));
}
