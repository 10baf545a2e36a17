/**
 * A grammar made ready for matching: texts and classes become leaves that take one byte each, and the 256 bytes fall into
 * as few kinds as the grammar can tell apart. What the grammar cannot be used for is refused here: left recursion, and
 * rules that never end.
 */
import {ValidationError} from '../errors.ts';
import {assertInvariant} from '../util/assert.ts';
import {type CodePointRanges, withoutSurrogates} from './code-point-ranges.ts';
import type {Grammar, GrammarNode} from './grammar.ts';
import {type ByteRange, utf8Sequences} from './utf8-sequences.ts';

export type ProgramNode =
  | {id: number; type: 'byte'; first: number; last: number}
  | {id: number; type: 'sequence'; parts: ProgramNode[]}
  | {id: number; type: 'choice'; options: ProgramNode[]}
  /** `takesBytes`: every round takes a byte at least. */
  | {id: number; type: 'repeat'; part: ProgramNode; min: number; max: number; takesBytes: boolean}
  /** The target is set once all rules are known. */
  | {id: number; type: 'rule'; target: ProgramNode | null};

export type RepeatNode = Extract<ProgramNode, {type: 'repeat'}>;
export type ByteLeaf = Extract<ProgramNode, {type: 'byte'}>;

export interface GrammarProgram {
  root: ProgramNode;
  /** Kind of each byte. Bytes of one kind are alike to every leaf. */
  kindOfByte: Uint8Array;
  numKinds: number;
  /** All texts that the grammar spells out. */
  texts: ReadonlySet<string>;
}

/** A grammar may be this large; texts count by their bytes. */
const maxNodes = 500_000;

/** @throws ValidationError when the grammar is too large, or cannot be read from left to right */
export function compileGrammar(grammar: Grammar): GrammarProgram {
  const lowering = new Lowering();
  const targets = new Map<string, ProgramNode>();
  for (const [name, node] of grammar.rules) targets.set(name, lowering.lower(node));
  for (const {name, node} of lowering.references) {
    const target = targets.get(name);
    assertInvariant(target !== undefined, `rule ${name} is defined`);
    node.target = target;
  }
  const isNullable = nullableNodes(targets);
  refuseLeftRecursion(targets, isNullable);
  for (const repeat of lowering.repeats) repeat.takesBytes = !isNullable(repeat.part);
  removeDeadEnds(targets, grammar);
  const kindOfByte = kindsOf(lowering.leaves);
  // Leaves speak of kinds from here on.
  for (const leaf of lowering.leaves) {
    leaf.first = kindOfByte[leaf.first]!;
    leaf.last = kindOfByte[leaf.last]!;
  }
  return {root: targets.get(grammar.root)!, kindOfByte, numKinds: kindOfByte[255]! + 1, texts: lowering.texts};
}

class Lowering {
  readonly leaves: ByteLeaf[] = [];
  readonly references: {name: string; node: Extract<ProgramNode, {type: 'rule'}>}[] = [];
  readonly repeats: RepeatNode[] = [];
  readonly texts = new Set<string>();
  /** A pattern has the same sets many times. */
  readonly #sequences = new Map<CodePointRanges, ByteRange[][]>();
  #numNodes = 0;

  lower(node: GrammarNode): ProgramNode {
    const id = this.#nextId();
    switch (node.type) {
      case 'text':
        this.texts.add(node.text);
        return {id, type: 'sequence', parts: [...Buffer.from(node.text)].map((byte) => this.#leaf([byte, byte]))};
      case 'class':
        return {id, type: 'choice', options: this.#sequencesOf(node.ranges).map((bytes) => this.#bytes(bytes))};
      case 'sequence':
        return {id, type: 'sequence', parts: node.parts.map((part) => this.lower(part))};
      case 'choice':
        return {id, type: 'choice', options: node.options.map((option) => this.lower(option))};
      case 'repeat':
        return this.#repeat({
          id,
          type: 'repeat',
          part: this.lower(node.part),
          min: node.min,
          max: node.max,
          takesBytes: false,
        });
      case 'rule': {
        const reference = {id, type: 'rule' as const, target: null};
        this.references.push({name: node.name, node: reference});
        return reference;
      }
    }
  }

  #sequencesOf(ranges: CodePointRanges): ByteRange[][] {
    const sequences = this.#sequences.get(ranges) ?? withoutSurrogates(ranges).flatMap(utf8Sequences);
    this.#sequences.set(ranges, sequences);
    return sequences;
  }

  #repeat(node: RepeatNode): ProgramNode {
    this.repeats.push(node);
    return node;
  }

  #bytes(ranges: ByteRange[]): ProgramNode {
    if (ranges.length === 1) return this.#leaf(ranges[0]!);
    return {id: this.#nextId(), type: 'sequence', parts: ranges.map((range) => this.#leaf(range))};
  }

  #leaf([first, last]: ByteRange): ByteLeaf {
    const leaf: ByteLeaf = {id: this.#nextId(), type: 'byte', first, last};
    this.leaves.push(leaf);
    return leaf;
  }

  #nextId(): number {
    if (this.#numNodes >= maxNodes) {
      throw new ValidationError(`Invalid structured outputs: the grammar has more than ${maxNodes} elements`);
    }
    return this.#numNodes++;
  }
}

/** A new kind begins wherever a leaf begins or has just ended. */
function kindsOf(leaves: readonly ByteLeaf[]): Uint8Array {
  const borders = new Set(leaves.flatMap(({first, last}) => [first, last + 1]));
  borders.delete(0);
  let kind = 0;
  return Uint8Array.from({length: 256}, (_, byte) => (borders.has(byte) ? ++kind : kind));
}

/** Whether a node can stand for the empty text; the least set for which the rules agree. */
function nullableNodes(targets: ReadonlyMap<string, ProgramNode>): (node: ProgramNode) => boolean {
  const nullableTargets = new Set<ProgramNode>();
  const isNullable = (node: ProgramNode): boolean => {
    switch (node.type) {
      case 'byte':
        return false;
      case 'sequence':
        return node.parts.every(isNullable);
      case 'choice':
        return node.options.some(isNullable);
      case 'repeat':
        return node.min === 0 || isNullable(node.part);
      case 'rule':
        return nullableTargets.has(node.target!);
    }
  };
  growUntilStable(targets, nullableTargets, isNullable);
  return isNullable;
}

/** Looks at a target again whenever a rule that it uses has come in. */
function growUntilStable(
  targets: ReadonlyMap<string, ProgramNode>,
  known: Set<ProgramNode>,
  belongs: (node: ProgramNode) => boolean,
): void {
  const users = new Map<ProgramNode, ProgramNode[]>();
  for (const target of targets.values()) {
    for (const used of rulesIn(target)) {
      const usersOfRule = users.get(used) ?? [];
      users.set(used, usersOfRule);
      usersOfRule.push(target);
    }
  }
  const open = [...targets.values()];
  for (let target = open.pop(); target !== undefined; target = open.pop()) {
    if (known.has(target) || !belongs(target)) continue;
    known.add(target);
    for (const user of users.get(target) ?? []) open.push(user);
  }
}

/** The rules that stand anywhere in a node. */
function rulesIn(node: ProgramNode, found = new Set<ProgramNode>()): Set<ProgramNode> {
  if (node.type === 'rule') found.add(node.target!);
  if (node.type === 'sequence') for (const part of node.parts) rulesIn(part, found);
  if (node.type === 'choice') for (const option of node.options) rulesIn(option, found);
  if (node.type === 'repeat') rulesIn(node.part, found);
  return found;
}

/** Rules that a node may begin with, before any byte is taken. */
function leftRules(node: ProgramNode, isNullable: (node: ProgramNode) => boolean): ProgramNode[] {
  switch (node.type) {
    case 'byte':
      return [];
    case 'rule':
      return [node.target!];
    case 'choice':
      return node.options.flatMap((option) => leftRules(option, isNullable));
    case 'repeat':
      return leftRules(node.part, isNullable);
    case 'sequence': {
      const firstSolid = node.parts.findIndex((part) => !isNullable(part));
      const reached = firstSolid === -1 ? node.parts : node.parts.slice(0, firstSolid + 1);
      return reached.flatMap((part) => leftRules(part, isNullable));
    }
  }
}

function refuseLeftRecursion(
  targets: ReadonlyMap<string, ProgramNode>,
  isNullable: (node: ProgramNode) => boolean,
): void {
  const nameOf = new Map([...targets].map(([name, target]) => [target, name]));
  const done = new Set<ProgramNode>();
  /** Rules each of which begins with the next, and what else each of them begins with. */
  const path: {target: ProgramNode; others: ProgramNode[]}[] = [];
  const onPath = new Set<ProgramNode>();
  const visit = (target: ProgramNode): void => {
    if (done.has(target)) return;
    if (onPath.has(target)) {
      throw new ValidationError(
        `Invalid structured outputs: rule "${nameOf.get(target)}" begins with itself (left recursion)`,
      );
    }
    onPath.add(target);
    path.push({target, others: leftRules(target, isNullable)});
  };
  for (const start of targets.values()) {
    visit(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.others.pop();
      if (next !== undefined) visit(next);
      else {
        done.add(last.target);
        onPath.delete(last.target);
        path.pop();
      }
    }
  }
}

/**
 * Takes out what can be begun and never ended, so that every beginning of a text that the grammar allows can be completed.
 * @throws ValidationError when nothing is left
 */
function removeDeadEnds(targets: ReadonlyMap<string, ProgramNode>, {root, emptyReason}: Grammar): void {
  const ending = new Set<ProgramNode>();
  const canEnd = (node: ProgramNode): boolean => {
    switch (node.type) {
      case 'byte':
        return true;
      case 'sequence':
        return node.parts.every(canEnd);
      case 'choice':
        return node.options.some(canEnd);
      case 'repeat':
        return node.min === 0 || canEnd(node.part);
      case 'rule':
        return ending.has(node.target!);
    }
  };
  growUntilStable(targets, ending, canEnd);
  if (!ending.has(targets.get(root)!)) {
    throw new ValidationError(`Invalid structured outputs: ${emptyReason ?? 'no finite text matches the constraint'}`);
  }
  for (const target of targets.values()) prune(target, canEnd);
}

function prune(node: ProgramNode, canEnd: (node: ProgramNode) => boolean): void {
  if (node.type === 'sequence') for (const part of node.parts) prune(part, canEnd);
  if (node.type === 'choice') {
    node.options = node.options.filter(canEnd);
    for (const option of node.options) prune(option, canEnd);
  }
  if (node.type === 'repeat') {
    if (!canEnd(node.part)) node.max = 0;
    else prune(node.part, canEnd);
  }
}
