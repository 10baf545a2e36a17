/**
 * Control tokens of a vocabulary: added tokens that steer the model, such as `<|im_start|>`. Here is which ones count,
 * and how a tokenizer is made that takes all of them for ordinary text.
 */

/** An entry of `added_tokens` in `tokenizer.json`. */
export interface AddedToken {
  id: number;
  content: string;
  special: boolean;
  lstrip?: boolean;
  rstrip?: boolean;
}

export interface ControlToken {
  text: string;
  /** Left out of answers; other marks, such as `<think>`, may be part of what a model says. */
  isSpecial: boolean;
  /** White space before, or behind, belongs to the token. */
  stripsLeft: boolean;
  stripsRight: boolean;
}

/** Added tokens that are no special ones may also be runs of blanks or words; marks look like `<…>` or `[…]`. */
const markShape = /^(?:<.+>|\[.+\])$/su;

export function readControlTokens(addedTokens: readonly AddedToken[]): ControlToken[] {
  return addedTokens.filter(isControlToken).map(({content, special, lstrip = false, rstrip = false}) => ({
    text: content,
    isSpecial: special,
    stripsLeft: lstrip,
    stripsRight: rstrip,
  }));
}

function isControlToken({content, special}: AddedToken): boolean {
  return content !== '' && (special || markShape.test(content));
}

/** The parts of `tokenizer.json` that change when control tokens become text. */
interface VocabularyJson {
  model: {type?: string; vocab?: unknown};
  added_tokens?: AddedToken[];
  pre_tokenizer?: unknown;
}

/**
 * The same tokenizer without control tokens: what looks like one is encoded as any other text.
 * @param isInside the text does not stand at the start of a prompt, so that no blank is put before it
 */
export function withoutControlTokens<Json extends VocabularyJson>(json: Json, isInside: boolean): Json {
  const {added_tokens: addedTokens = [], model, pre_tokenizer: preTokenizer} = json;
  const hidden = new Set(addedTokens.filter(isControlToken).map(({content}) => content));
  return {
    ...json,
    added_tokens: addedTokens.filter((token) => !isControlToken(token)),
    model: {...model, vocab: Array.isArray(model.vocab) ? hidePieces(model.vocab, hidden) : model.vocab},
    ...(isInside && preTokenizer ? {pre_tokenizer: withoutFirstBlank(preTokenizer)} : {}),
  };
}

/** A vocabulary of pieces with scores may pick a control token by itself; a private character in its name prevents it. */
function hidePieces(pieces: readonly [string, number][], hidden: ReadonlySet<string>): [string, number][] {
  return pieces.map(([piece, score]) => [hidden.has(piece) ? `\u{10ffff}${piece}` : piece, score]);
}

/** Whether a pre-tokenizer treats the start of a prompt in another way than the rest. */
export function prependsToFirst(preTokenizer: unknown): boolean {
  return (JSON.stringify(preTokenizer) ?? '').includes('"prepend_scheme":"first"');
}

/** `prepend_scheme: "first"` puts a blank before the first word of a prompt only. */
function withoutFirstBlank(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFirstBlank);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, entry]) => [key, withoutFirstBlank(entry)]);
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  return copy.prepend_scheme === 'first' ? {...copy, prepend_scheme: 'never'} : copy;
}
