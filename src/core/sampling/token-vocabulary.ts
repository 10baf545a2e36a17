/** How tokens are spelled, as plain data. */
export interface TokenVocabulary {
  /** The bytes of all tokens, one after the other in order of id. */
  bytes: Uint8Array;
  /** Where the bytes of each token end; a token without bytes ends where the one before does. */
  ends: Uint32Array;
  /** Tokens that are markup, not text. */
  specialTokenIds: number[];
}
