/**
 * Finite automata over code points, for what a grammar alone cannot say: texts that follow two patterns at once, a pattern
 * and a length, or no pattern. A piece of grammar without rules becomes an automaton, automata are put together, and the
 * result is a grammar again. Their size is limited, so that no pattern can keep the server busy.
 */
import {ValidationError} from '../errors.ts';
import {assertInvariant} from '../util/assert.ts';
import {anyCodePoint, type CodePointRanges, unionOf} from './code-point-ranges.ts';
import {choice, type GrammarBuilder, type GrammarNode, nothing, rule, sequence} from './grammar.ts';

/** Deterministic; state 0 is the start. */
export interface Automaton {
  /** Sets of code points that no transition tells apart; together they are all of them. */
  classes: readonly CodePointRanges[];
  /** By state, then class: the next state, or -1. */
  next: readonly Int32Array[];
  accepts: readonly boolean[];
}

const maxStates = 20_000;
/** States of a non-deterministic automaton that are looked at together, over all steps of making it deterministic. */
const maxWork = 500_000;
const dead = -1;

/** @throws ValidationError when the automaton would be too large */
export function automatonOf(node: GrammarNode): Automaton {
  const builder = new NondeterministicBuilder();
  const last = builder.add(node, builder.newState());
  return determinized(builder, last);
}

/** Texts with a number of code points. */
export function lengthAutomaton(min: number, max: number): Automaton {
  const numStates = (max === Number.POSITIVE_INFINITY ? min : max) + 1;
  refuseLarge(numStates);
  const next = Array.from({length: numStates}, (_, count) => {
    const isLast = count === numStates - 1;
    return Int32Array.of(!isLast ? count + 1 : max === Number.POSITIVE_INFINITY ? count : dead);
  });
  return {classes: [anyCodePoint], next, accepts: next.map((_, count) => count >= min)};
}

export function complementAutomaton({classes, next, accepts}: Automaton): Automaton {
  const sink = next.length;
  const full = next.map((row) => row.map((target) => (target === dead ? sink : target)));
  return {
    classes,
    next: [...full, new Int32Array(classes.length).fill(sink)],
    accepts: [...accepts.map((isAccepting) => !isAccepting), true],
  };
}

/** Texts that both take. */
export const intersected = (a: Automaton, b: Automaton): Automaton =>
  trimmed(product(a, b, (inA, inB) => inA && inB, false));

/** Texts that one of them takes. */
export const united = (a: Automaton, b: Automaton): Automaton => trimmed(product(a, b, (inA, inB) => inA || inB, true));

/** Whether no text at all is taken. */
export const takesNothing = (automaton: Automaton): boolean => !trimmed(automaton).accepts.includes(true);

export function takes({classes, next, accepts}: Automaton, value: string): boolean {
  let state = 0;
  for (const character of value) {
    const codePoint = character.codePointAt(0)!;
    const taken = classes.findIndex((ranges) =>
      ranges.some(([first, last]) => codePoint >= first && codePoint <= last),
    );
    state = taken === -1 ? dead : next[state]![taken]!;
    if (state === dead) return false;
  }
  return accepts[state]!;
}

/** @param write how one character out of a set is written */
export function automatonNode(
  automaton: Automaton,
  builder: GrammarBuilder,
  write: (ranges: CodePointRanges) => GrammarNode,
): GrammarNode {
  const {classes, next, accepts} = trimmed(automaton);
  if (!accepts.includes(true)) return choice();
  const names = next.map(() => builder.reserve('state'));
  const written = new Map<string, GrammarNode>();
  const characters = (members: readonly number[]): GrammarNode => {
    const key = members.join();
    const node =
      written.get(key) ?? builder.add('characters', write(unionOf(...members.map((each) => classes[each]!))));
    written.set(key, node);
    return node;
  };
  next.forEach((row, state) => {
    const steps = [...classesByTarget(row)].map(([target, members]) =>
      sequence(characters(members), rule(names[target]!)),
    );
    builder.define(names[state]!, choice(...(accepts[state] ? [nothing] : []), ...steps));
  });
  return rule(names[0]!);
}

function classesByTarget(row: Int32Array): Map<number, number[]> {
  const byTarget = new Map<number, number[]>();
  row.forEach((target, index) => {
    if (target !== dead) byTarget.set(target, [...(byTarget.get(target) ?? []), index]);
  });
  return byTarget;
}

function refuseLarge(numStates: number): void {
  if (numStates > maxStates) {
    throw new ValidationError(
      `Invalid structured outputs: a pattern together with what stands next to it needs more than ${maxStates} states`,
    );
  }
}

/** Thompson's construction; counted repetitions are written out. */
class NondeterministicBuilder {
  readonly steps: {ranges: CodePointRanges; target: number}[][] = [];
  readonly jumps: number[][] = [];

  newState(): number {
    refuseLarge(this.steps.length);
    this.steps.push([]);
    return this.jumps.push([]) - 1;
  }

  /** @returns the state behind the node */
  add(node: GrammarNode, from: number): number {
    switch (node.type) {
      case 'text':
        return [...node.text].reduce((state, character) => this.#step(state, codePointRange(character)), from);
      case 'class':
        return this.#step(from, node.ranges);
      case 'sequence':
        return node.parts.reduce((state, part) => this.add(part, state), from);
      case 'choice':
        return this.#addChoice(node.options, from);
      case 'repeat':
        return this.#addRepeat(node, from);
      case 'rule':
        assertInvariant(false, 'a pattern has no rules');
    }
  }

  #step(from: number, ranges: CodePointRanges): number {
    const target = this.newState();
    this.steps[from]!.push({ranges, target});
    return target;
  }

  #addChoice(options: readonly GrammarNode[], from: number): number {
    const end = this.newState();
    for (const option of options) this.jumps[this.add(option, from)]!.push(end);
    return end;
  }

  #addRepeat({part, min, max}: Extract<GrammarNode, {type: 'repeat'}>, from: number): number {
    let state = from;
    for (let count = 0; count < min; count++) state = this.add(part, state);
    const end = this.newState();
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.newState();
      this.jumps[state]!.push(loop);
      this.jumps[this.add(part, loop)]!.push(loop);
      this.jumps[loop]!.push(end);
      return end;
    }
    for (let count = min; count < max; count++) {
      this.jumps[state]!.push(end);
      state = this.add(part, state);
    }
    this.jumps[state]!.push(end);
    return end;
  }
}

const codePointRange = (character: string): CodePointRanges => [[character.codePointAt(0)!, character.codePointAt(0)!]];

function determinized({steps, jumps}: NondeterministicBuilder, last: number): Automaton {
  const {classes, indexesOf} = classesOf(steps.flat().map(({ranges}) => ranges));
  const taken = steps.map((list) => list.map(({ranges, target}) => ({indexes: indexesOf(ranges), target})));
  let work = 0;
  const closed = (states: Iterable<number>): number[] => {
    const reached = new Set(states);
    for (const state of reached) for (const target of jumps[state]!) reached.add(target);
    work += reached.size;
    if (work > maxWork) refuseLarge(Number.POSITIVE_INFINITY);
    return [...reached].sort((a, b) => a - b);
  };
  return exploredAutomaton(closed([0]), {
    classes,
    keyOf: (states) => states.join(),
    isAccepting: (states) => states.includes(last),
    follow: (states) => {
      const targets = classes.map(() => new Set<number>());
      for (const state of states)
        for (const {indexes, target} of taken[state]!) for (const index of indexes) targets[index]!.add(target);
      return targets.map((set) => (set.size === 0 ? null : closed(set)));
    },
  });
}

/** @param isOpen whether one side may be dead already */
function product(a: Automaton, b: Automaton, isAccepting: (a: boolean, b: boolean) => boolean, isOpen: boolean) {
  const {classes, indexesOf} = classesOf([...a.classes, ...b.classes]);
  const classIn = (side: Automaton) => {
    const found = new Int32Array(classes.length).fill(dead);
    side.classes.forEach((ranges, index) => {
      for (const member of indexesOf(ranges)) found[member] = index;
    });
    return found;
  };
  const [classInA, classInB] = [classIn(a), classIn(b)];
  const step = (side: Automaton, state: number, index: number) =>
    state === dead || index === dead ? dead : side.next[state]![index]!;
  return exploredAutomaton<readonly [number, number]>([0, 0], {
    classes,
    keyOf: ([inA, inB]) => `${inA}:${inB}`,
    isAccepting: ([inA, inB]) => isAccepting(inA !== dead && a.accepts[inA]!, inB !== dead && b.accepts[inB]!),
    follow: ([inA, inB]) =>
      classes.map((_, index) => {
        const pair = [step(a, inA, classInA[index]!), step(b, inB, classInB[index]!)] as const;
        const isDead = isOpen ? pair[0] === dead && pair[1] === dead : pair[0] === dead || pair[1] === dead;
        return isDead ? null : pair;
      }),
  });
}

export interface Exploration<State> {
  classes: readonly CodePointRanges[];
  keyOf: (state: State) => string;
  isAccepting: (state: State) => boolean;
  /** By class; null = none. */
  follow: (state: State) => (State | null)[];
}

/** Numbers all states that can be reached. */
export function exploredAutomaton<State>(
  start: State,
  {classes, keyOf, isAccepting, follow}: Exploration<State>,
): Automaton {
  const numbers = new Map([[keyOf(start), 0]]);
  const states = [start];
  const next: Int32Array[] = [];
  const numberOf = (state: State): number => {
    const key = keyOf(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    refuseLarge(states.length);
    numbers.set(key, states.length);
    return states.push(state) - 1;
  };
  for (let number = 0; number < states.length; number++) {
    next.push(Int32Array.from(follow(states[number]!), (target) => (target === null ? dead : numberOf(target))));
  }
  return {classes, next, accepts: states.map(isAccepting)};
}

/** Without states from which nothing is accepted; the start stays. */
function trimmed({classes, next, accepts}: Automaton): Automaton {
  const before = next.map((): number[] => []);
  next.forEach((row, state) => {
    for (const target of row) if (target !== dead) before[target]!.push(state);
  });
  const alive = new Set([...next.keys()].filter((state) => accepts[state]!));
  for (const state of alive) for (const earlier of before[state]!) alive.add(earlier);
  const kept = [...next.keys()].filter((state) => state === 0 || alive.has(state));
  const numberOf = new Map(kept.map((state, number) => [state, number]));
  const renumbered = (target: number) => (alive.has(target) ? numberOf.get(target)! : dead);
  return {
    classes,
    next: kept.map((state) => next[state]!.map(renumbered)),
    accepts: kept.map((state) => accepts[state]!),
  };
}

/** The coarsest sets of code points of which each given set is made. */
function classesOf(sets: readonly CodePointRanges[]) {
  const distinct = [...new Map(sets.map((ranges) => [JSON.stringify(ranges), ranges])).entries()];
  const borders = [
    ...new Set([0, ...[...sets, anyCodePoint].flat().flatMap(([first, last]) => [first, last + 1])]),
  ].sort((a, b) => a - b);
  const membersAt = new Map<number, string[]>(borders.map((border) => [border, []]));
  const indexOfBorder = new Map(borders.map((border, index) => [border, index]));
  for (const [key, ranges] of [...distinct, ['any', anyCodePoint] as const]) {
    for (const [first, last] of ranges) {
      for (let index = indexOfBorder.get(first)!; borders[index]! <= last; index++)
        membersAt.get(borders[index]!)!.push(key);
    }
  }
  const bySignature = new Map<string, {ranges: [number, number][]; members: string[]}>();
  borders.forEach((border, index) => {
    const members = membersAt.get(border)!;
    if (members.length === 0) return;
    const signature = members.join('|');
    const group = bySignature.get(signature) ?? {ranges: [], members};
    bySignature.set(signature, group);
    group.ranges.push([border, borders[index + 1]! - 1]);
  });
  const groups = [...bySignature.values()];
  const indexes = new Map<string, number[]>();
  groups.forEach(({members}, index) => {
    for (const key of new Set(members)) indexes.set(key, [...(indexes.get(key) ?? []), index]);
  });
  return {
    classes: groups.map(({ranges}) => unionOf(ranges)),
    indexesOf: (ranges: CodePointRanges): readonly number[] => indexes.get(JSON.stringify(ranges)) ?? [],
  };
}
