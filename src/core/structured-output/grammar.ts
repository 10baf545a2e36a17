/**
 * A grammar as plain data: what every kind of constraint becomes, and what the matcher is made of. Rules name nodes; a
 * node says which texts it stands for. Texts are code points here; bytes and tokens come later (`grammar-program.ts`).
 */
import type {CodePointRanges} from './code-point-ranges.ts';

export type GrammarNode =
  | {type: 'text'; text: string}
  /** One code point out of a set. */
  | {type: 'class'; ranges: CodePointRanges}
  | {type: 'sequence'; parts: GrammarNode[]}
  /** One of several; none at all = nothing can follow. */
  | {type: 'choice'; options: GrammarNode[]}
  /** `max` may be Infinity. */
  | {type: 'repeat'; part: GrammarNode; min: number; max: number}
  | {type: 'rule'; name: string};

export interface Grammar {
  rules: ReadonlyMap<string, GrammarNode>;
  root: string;
  /** Special tokens of the tokenizer may stand for their text where a text names them. */
  namesSpecialTokens: boolean;
  /** Why no text might be left, if none is. */
  emptyReason: string | null;
}

export const nothing: GrammarNode = {type: 'text', text: ''};

export const text = (value: string): GrammarNode => ({type: 'text', text: value});

export const oneOf = (ranges: CodePointRanges): GrammarNode => ({type: 'class', ranges});

export const rule = (name: string): GrammarNode => ({type: 'rule', name});

/** A single part stands for itself. */
export function sequence(...parts: GrammarNode[]): GrammarNode {
  return parts.length === 1 ? parts[0]! : {type: 'sequence', parts};
}

/** A single option stands for itself. */
export function choice(...options: GrammarNode[]): GrammarNode {
  return options.length === 1 ? options[0]! : {type: 'choice', options};
}

export function repeat(part: GrammarNode, min: number, max: number = Number.POSITIVE_INFINITY): GrammarNode {
  return min === 1 && max === 1 ? part : {type: 'repeat', part, min, max};
}

export const optional = (part: GrammarNode): GrammarNode => repeat(part, 0, 1);

/** Code points of the shortest and the longest text of a node without rules. */
export function lengthsOf(node: GrammarNode): {min: number; max: number} {
  switch (node.type) {
    case 'text': {
      const {length} = [...node.text];
      return {min: length, max: length};
    }
    case 'class':
      return {min: 1, max: 1};
    case 'sequence':
      return node.parts.map(lengthsOf).reduce((a, b) => ({min: a.min + b.min, max: a.max + b.max}), {min: 0, max: 0});
    case 'choice':
      return node.options
        .map(lengthsOf)
        .reduce((a, b) => ({min: Math.min(a.min, b.min), max: Math.max(a.max, b.max)}), {
          min: Number.POSITIVE_INFINITY,
          max: 0,
        });
    case 'repeat': {
      const {min, max} = lengthsOf(node.part);
      return {min: times(min, node.min), max: times(max, node.max)};
    }
    case 'rule':
      return {min: 0, max: Number.POSITIVE_INFINITY};
  }
}

/** Nothing, however often, is nothing; to JavaScript, infinity times zero is no number. */
const times = (length: number, count: number): number => (length === 0 || count === 0 ? 0 : length * count);

/** Collects rules under names that are unique in one grammar. */
export class GrammarBuilder {
  /** See `Grammar`. */
  emptyReason: string | null = null;
  readonly #rules = new Map<string, GrammarNode>();
  /** Next number for names with the same beginning. */
  readonly #numbers = new Map<string, number>();

  /** A name nobody has; the rule must be defined later. */
  reserve(hint: string): string {
    let name = hint;
    for (let number = this.#numbers.get(hint) ?? 1; this.#rules.has(name); number++) {
      name = `${hint}_${number}`;
      this.#numbers.set(hint, number + 1);
    }
    this.#rules.set(name, nothing);
    return name;
  }

  define(name: string, node: GrammarNode): void {
    this.#rules.set(name, node);
  }

  add(hint: string, node: GrammarNode): GrammarNode {
    const name = this.reserve(hint);
    this.define(name, node);
    return rule(name);
  }

  has(name: string): boolean {
    return this.#rules.has(name);
  }

  build(root: GrammarNode, {namesSpecialTokens = false} = {}): Grammar {
    const name = this.reserve('answer');
    this.define(name, root);
    return {rules: this.#rules, root: name, namesSpecialTokens, emptyReason: this.emptyReason};
  }
}
