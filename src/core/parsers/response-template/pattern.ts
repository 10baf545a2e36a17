/**
 * Regular expressions of a template as something that text can be scanned for: fixed text at the beginning and the end,
 * and the whole expression for what stands between. Python's spelling of named groups is understood.
 */

export interface FixedEnds {
  /** Fixed text that the expression begins with, the whole of it when there is no `suffix`. */
  prefix: string;
  /** Fixed text that it ends with; '' when it ends in something variable; undefined when all of it is fixed. */
  suffix: string | undefined;
  /** Matches the whole text of an occurrence; its named groups are told. */
  whole: RegExp | undefined;
}

/** One for each alternative. @throws Error that says why the pattern cannot be scanned for */
export function fixedEnds(pattern: string): FixedEnds[] {
  return splitAlternatives(atomsOf(pattern)).map(endsOf);
}

/** The smallest parts of an expression; `literal` is the character that a part stands for, if it is only one. */
export interface Atom {
  source: string;
  literal: string | undefined;
}

const BLANKS = /^\\s[*+]\??$/;

function endsOf(written: readonly Atom[]): FixedEnds {
  const atoms = withoutOuterBlanks(written);
  const start = atoms.findIndex(({literal}) => literal === undefined);
  if (start === 0 || atoms.length === 0) throw new Error('it must begin with fixed text');
  const textOf = (part: readonly Atom[]): string => part.map(({literal}) => literal).join('');
  if (start < 0) return {prefix: textOf(atoms), suffix: undefined, whole: undefined};
  const end = atoms.findLastIndex(({literal}) => literal === undefined) + 1;
  const source = atoms.map((atom) => atom.source).join('');
  return {
    prefix: textOf(atoms.slice(0, start)),
    suffix: textOf(atoms.slice(end)),
    whole: new RegExp(`^${source}$`, 'su'),
  };
}

/** Optional blanks at the ends say nothing: blanks around fields are dropped. */
function withoutOuterBlanks(atoms: readonly Atom[]): readonly Atom[] {
  const first = BLANKS.test(atoms[0]?.source ?? '') ? 1 : 0;
  const last = BLANKS.test(atoms.at(-1)?.source ?? '') ? atoms.length - 1 : atoms.length;
  return atoms.slice(first, last);
}

function splitAlternatives(atoms: readonly Atom[]): Atom[][] {
  const alternatives: Atom[][] = [[]];
  for (const atom of atoms) {
    if (atom.source === '|') alternatives.push([]);
    else alternatives.at(-1)?.push(atom);
  }
  return alternatives;
}

const ESCAPES: Readonly<Record<string, string>> = {n: '\n', t: '\t', r: '\r'};
const QUANTIFIER = /^(?:[*+?]|\{\d*,?\d*\})\??/;
const SPECIAL = new Set('.^$');

/** Characters, classes and groups with what repeats them. @throws Error when brackets do not match */
export function atomsOf(pattern: string): Atom[] {
  const atoms: Atom[] = [];
  for (let index = 0; index < pattern.length; ) {
    const length = atomLength(pattern, index);
    const text = pattern.slice(index, index + length);
    const repeat = text === '|' ? '' : (QUANTIFIER.exec(pattern.slice(index + length))?.[0] ?? '');
    atoms.push({source: inJavaScript(text) + repeat, literal: repeat === '' ? literalOf(text) : undefined});
    index += length + repeat.length;
  }
  return atoms;
}

function literalOf(text: string): string | undefined {
  if (text.startsWith('\\')) return ESCAPES[text.charAt(1)] ?? (/\w/.test(text.charAt(1)) ? undefined : text.charAt(1));
  return [...text].length > 1 || SPECIAL.has(text) || text === '|' ? undefined : text;
}

/** Under the `u` flag only marks of the syntax may be escaped. */
function inJavaScript(text: string): string {
  const renamed = text.replaceAll('(?P<', '(?<');
  return renamed.replaceAll(/\\([^\w\s^$\\.*+?()[\]{}|/-])/g, '$1').replaceAll(/^[{}\]]$/g, '\\$&');
}

function atomLength(pattern: string, index: number): number {
  const character = pattern.charAt(index);
  if (character === '\\') return 2;
  if (character === '[') return closingOf(pattern, index, '', ']');
  if (character === '(') return closingOf(pattern, index, '(', ')');
  return String.fromCodePoint(pattern.codePointAt(index) ?? 0).length;
}

/** Characters up to and with the bracket that closes the one at `index`. */
function closingOf(pattern: string, index: number, open: string, close: string): number {
  let depth = 1;
  for (let at = index + 1; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '\\') at++;
    else if (character === '[' && open !== '') at += closingOf(pattern, at, '', ']') - 1;
    else if (character === close) depth--;
    else if (character === open) depth++;
    if (depth === 0) return at + 1 - index;
  }
  throw new Error(`a '${pattern.charAt(index)}' is not closed`);
}
