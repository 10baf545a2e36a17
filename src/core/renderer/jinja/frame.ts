/**
 * The compiler's side of a scope: which slot of which scope a name means. Frames that run inside the same call share a
 * layout; a macro, a block and a recursive loop have one of their own, since they may run several times at once.
 */
import {assertInvariant} from '../../util/assert.ts';
import type {Statement} from './ast.ts';
import type {Environment, Runtime, Scope} from './runtime.ts';
import {Symbols} from './symbols.ts';
import type {Value} from './values.ts';

/** How a piece of a loop's body ended. */
export type Flow = 'break' | 'continue' | undefined;
export type Evaluate = (runtime: Runtime, scope: Scope) => Value;
export type Execute = (runtime: Runtime, scope: Scope) => Flow;
export type Action = (runtime: Runtime, scope: Scope) => void;

/** What all frames of one template share. */
export interface Unit {
  readonly source: string;
  readonly environment: Environment;
  /** Names that come from outside. */
  readonly undeclared: Set<string>;
  /** Blocks see what the top level has set. */
  readonly hasBlocks: boolean;
  compileBody(statements: readonly Statement[], frame: Frame): Execute;
}

/** The slots of one call. */
export interface Layout {
  size: number;
  /** Number of layouts around it. */
  readonly depth: number;
}

export interface Variable {
  /** How many scopes further out. */
  readonly hops: number;
  readonly index: number;
}

interface FrameParts {
  readonly unit: Unit;
  readonly symbols: Symbols;
  readonly layout: Layout;
  readonly parent: Frame | null;
  readonly isTop: boolean;
  /** A `break` or `continue` finds a loop. */
  readonly isInLoop: boolean;
  /** Inside a condition: unknown filters fail when they are reached, not before. */
  readonly isSoft: boolean;
  readonly slots: Map<string, number>;
}

export class Frame {
  readonly unit: Unit;
  readonly symbols: Symbols;
  readonly layout: Layout;
  readonly isTop: boolean;
  readonly isInLoop: boolean;
  readonly isSoft: boolean;
  readonly #parent: Frame | null;
  readonly #slots: Map<string, number>;

  private constructor(parts: FrameParts) {
    this.unit = parts.unit;
    this.symbols = parts.symbols;
    this.layout = parts.layout;
    this.isTop = parts.isTop;
    this.isInLoop = parts.isInLoop;
    this.isSoft = parts.isSoft;
    this.#parent = parts.parent;
    this.#slots = parts.slots;
  }

  /** The frame of a template or of a block, which sees no other. */
  static outermost(unit: Unit, {isTop}: {isTop: boolean}): Frame {
    const plain = {parent: null, isInLoop: false, isSoft: false, slots: new Map<string, number>()};
    return new Frame({unit, symbols: new Symbols(null), layout: {size: 0, depth: 0}, isTop, ...plain});
  }

  /** A frame inside, run by the same call. */
  inner({isInLoop = this.isInLoop}: {isInLoop?: boolean} = {}): Frame {
    return this.#child({layout: this.layout, isInLoop});
  }

  /** A frame inside, run by calls of its own. */
  callable(): Frame {
    return this.#child({layout: {size: 0, depth: this.layout.depth + 1}, isInLoop: false});
  }

  /** The same frame, inside a condition. */
  soft(): Frame {
    if (this.isSoft) return this;
    return new Frame({
      unit: this.unit,
      symbols: this.symbols,
      layout: this.layout,
      isTop: this.isTop,
      isInLoop: this.isInLoop,
      parent: this.#parent,
      slots: this.#slots,
      isSoft: true,
    });
  }

  /** Where a name is kept that this frame or one around it knows. */
  variable(name: string): Variable {
    const owner = this.#ownerOf(name);
    return {hops: this.layout.depth - owner.layout.depth, index: owner.#slotOf(name)};
  }

  /** What must happen before the code of the frame runs: every name gets its first value. */
  entry(): Action {
    const loads = [...this.symbols.loads].map(([name]) => this.#loadOf(name)).filter((load) => load !== null);
    if (loads.length === 0) return () => {};
    return (runtime, scope) => {
      for (const load of loads) load(runtime, scope);
    };
  }

  #child(parts: Pick<FrameParts, 'layout' | 'isInLoop'>): Frame {
    const symbols = new Symbols(this.symbols);
    const slots = new Map<string, number>();
    return new Frame({unit: this.unit, symbols, parent: this, isTop: false, isSoft: false, slots, ...parts});
  }

  #loadOf(name: string): Action | null {
    const load = this.symbols.loads.get(name)!;
    const index = this.#slotOf(name);
    if (load === 'parameter') return null;
    if (load === 'alias') return aliasOf(this.layout.depth, this.#parent!, name, index);
    if (load === 'undefined') return (_runtime, {slots}) => void (slots[index] = undefined);
    this.unit.undeclared.add(name);
    return (runtime, {slots}) => void (slots[index] = runtime.resolve(name));
  }

  #ownerOf(name: string): Frame {
    let frame: Frame | null = this;
    while (frame && !frame.symbols.loads.has(name)) frame = frame.#parent;
    assertInvariant(frame, `the name '${name}' is known in its frame`);
    return frame;
  }

  #slotOf(name: string): number {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    this.#slots.set(name, this.layout.size);
    return this.layout.size++;
  }
}

/** A copy of the variable of the same name outside. */
function aliasOf(depth: number, outer: Frame, name: string, index: number): Action {
  const {hops, index: outerIndex} = outer.variable(name);
  const moreHops = hops + depth - outer.layout.depth;
  return (_runtime, scope) => void (scope.slots[index] = scopeAt(scope, moreHops).slots[outerIndex]);
}

/** The scope that many steps further out. */
export function scopeAt(scope: Scope, hops: number): Scope {
  let found = scope;
  for (let count = hops; count > 0; count--) found = found.parent!;
  return found;
}
