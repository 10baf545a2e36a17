/**
 * What readers of written grammars have in common: rules that are named, used and defined in any order, alternatives,
 * sequences with counts, and groups. How a rule begins and what an element is, each notation says itself.
 */
import {choice, type GrammarBuilder, type GrammarNode, rule, sequence} from './grammar.ts';
import type {GrammarText} from './grammar-text.ts';

export abstract class NotationReader {
  protected readonly source: GrammarText;
  protected readonly builder: GrammarBuilder;
  /** Name in the text -> name of the rule. */
  readonly #names = new Map<string, string>();
  readonly #defined = new Set<string>();
  readonly #used: {name: string; position: number}[] = [];

  constructor(source: GrammarText, builder: GrammarBuilder) {
    this.source = source;
    this.builder = builder;
  }

  /** @param root name of the rule that an answer follows */
  protected readRules(root: string): GrammarNode {
    this.source.skipBlank();
    while (!this.source.isAtEnd) this.readRule();
    for (const {name, position} of this.#used) {
      if (!this.#defined.has(name)) this.source.refuse(`rule "${name}" is not defined`, position);
    }
    if (!this.#defined.has(root)) this.source.refuse(`there is no rule "${root}"`, 0);
    return rule(this.nameOf(root));
  }

  protected abstract readRule(): void;

  /** A new rule begins here. */
  protected abstract get startsRule(): boolean;

  /** One element with the counts behind it. */
  protected abstract readCounted(): GrammarNode;

  /** What ends a sequence besides the next rule. */
  protected abstract readonly closers: string;

  /** @param read what the rule stands for */
  protected define(name: string, start: number, read: () => GrammarNode): void {
    if (this.#defined.has(name)) this.source.refuse(`rule "${name}" is defined twice`, start);
    this.#defined.add(name);
    this.builder.define(this.nameOf(name), read());
  }

  /** The alternatives of a rule, behind which only another rule may stand. */
  protected readWholeRule(): GrammarNode {
    const node = this.readAlternatives();
    if (!this.source.isAtEnd && !this.startsRule) this.source.refuse('this is not expected here');
    return node;
  }

  /** A rule that is used, whether it is defined already or later. */
  protected reference(name: string, position: number): GrammarNode {
    this.#used.push({name, position});
    return rule(this.nameOf(name));
  }

  protected readAlternatives(): GrammarNode {
    const options = [this.readSequence()];
    while (this.source.takeText('|')) options.push(this.readSequence());
    return choice(...options);
  }

  protected readSequence(): GrammarNode {
    const parts: GrammarNode[] = [];
    while (!this.isAtSequenceEnd) parts.push(this.readCounted());
    return sequence(...parts);
  }

  protected get isAtSequenceEnd(): boolean {
    return this.source.isAtEnd || this.closers.includes(this.source.next) || this.startsRule;
  }

  protected readGroup(open: string, close: string): GrammarNode {
    const start = this.source.position;
    this.source.takeText(open);
    const node = this.readAlternatives();
    if (!this.source.takeText(close)) this.source.refuse('the group is not closed', start);
    return node;
  }

  protected nameOf(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const reserved = this.builder.reserve(name);
    this.#names.set(name, reserved);
    return reserved;
  }
}
