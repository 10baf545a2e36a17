/**
 * How texts are cut before byte-pair merges, by the name that GGUF files give (`tokenizer.ggml.pre`), as the parts of a
 * `tokenizer.json`. The patterns are those of the models' own tokenizer files.
 */

type JsonObject = Record<string, unknown>;

export interface PreTokenization {
  normalizer: JsonObject | null;
  preTokenizer: JsonObject;
  /** Words that are whole entries are not built from merges. */
  ignoresMerges: boolean;
}

const byteLevel = (usesRegex: boolean) => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: usesRegex,
});

const sequence = (...steps: JsonObject[]) => ({type: 'Sequence', pretokenizers: steps});
const splitBy = (pattern: string) => ({type: 'Split', pattern: {Regex: pattern}, behavior: 'Isolated', invert: false});
const plain = (preTokenizer: JsonObject): PreTokenization => ({normalizer: null, preTokenizer, ignoresMerges: false});

const contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const wordsAndSigns = (digits: string) =>
  `${contraction}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const upper = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const lower = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const casedWords = (ending: string, digits: string) =>
  `[^\\r\\n\\p{L}\\p{N}]?${upper}*${lower}+${ending}|[^\\r\\n\\p{L}\\p{N}]?${upper}+${lower}*${ending}|${digits}` +
  '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

const gpt2 = plain(byteLevel(true));
const qwen2: PreTokenization = {
  normalizer: {type: 'NFC'},
  preTokenizer: sequence(splitBy(wordsAndSigns('\\p{N}')), byteLevel(false)),
  ignoresMerges: false,
};
const threeDigits = plain(sequence(splitBy(wordsAndSigns('\\p{N}{1,3}')), byteLevel(false)));
const llama3: PreTokenization = {...threeDigits, ignoresMerges: true};
const singleDigits = plain(sequence({type: 'Digits', individual_digits: true}, byteLevel(true)));
const gpt4o = plain(sequence(splitBy(casedWords(`${contraction}?`, '\\p{N}{1,3}')), byteLevel(false)));
const tekken: PreTokenization = {
  ...plain(sequence(splitBy(casedWords('', '\\p{N}')), byteLevel(false))),
  ignoresMerges: true,
};

const byName: Readonly<Record<string, PreTokenization>> = {
  default: gpt2,
  'gpt-2': gpt2,
  olmo: gpt2,
  dolma: gpt2,
  'llama-bpe': llama3,
  'llama-v3': llama3,
  llama3: llama3,
  'smaug-bpe': llama3,
  dbrx: threeDigits,
  qwen2,
  'deepseek-r1-qwen': qwen2,
  kormo: qwen2,
  starcoder: singleDigits,
  refact: singleDigits,
  'command-r': singleDigits,
  smollm: singleDigits,
  codeshell: singleDigits,
  exaone: singleDigits,
  'gpt-4o': gpt4o,
  llama4: gpt4o,
  tekken,
};

/** Names that are known, for messages. */
export const knownPreTokenizers: readonly string[] = Object.keys(byName);

export function preTokenizationOf(name: string): PreTokenization | undefined {
  return Object.hasOwn(byName, name) ? byName[name] : undefined;
}
