/**
 * Which name means which variable, decided before a template runs, exactly as jinja2's `idtracking.py` does it. Every
 * frame (template, loop body, macro, block, `with`) has its symbols: names that it reads or sets, and what each of them
 * holds when the frame is entered. A frame that sets a name of an outer frame works on a copy.
 */
import type {AnyNode, Expression, MacroParameter, Statement, Target} from './ast.ts';
import {childrenOf} from './walk.ts';

/** How a variable gets its first value: given by the caller, copied from outside, looked up, or not at all. */
export type Load = 'parameter' | 'alias' | 'resolve' | 'undefined';

export class Symbols {
  readonly parent: Symbols | null;
  readonly #loads: Map<string, Load>;
  readonly #stores: Set<string>;

  constructor(parent: Symbols | null, loads = new Map<string, Load>(), stores = new Set<string>()) {
    this.parent = parent;
    this.#loads = loads;
    this.#stores = stores;
  }

  /** Names of this frame with the way they are loaded. */
  get loads(): ReadonlyMap<string, Load> {
    return this.#loads;
  }

  /** Names that are set here or outside. */
  storedNames(): Set<string> {
    return new Set([...this.#stores, ...(this.parent?.storedNames() ?? [])]);
  }

  /** The innermost frame that knows the name, from here outwards. */
  ownerOf(name: string): Symbols | null {
    if (this.#loads.has(name)) return this;
    return this.parent?.ownerOf(name) ?? null;
  }

  declareParameter(name: string): void {
    this.#stores.add(name);
    this.#loads.set(name, 'parameter');
  }

  load(name: string): void {
    if (this.ownerOf(name) === null) this.#loads.set(name, 'resolve');
  }

  store(name: string): void {
    this.#stores.add(name);
    if (!this.#loads.has(name)) this.#loads.set(name, this.#isOuter(name) ? 'alias' : 'undefined');
  }

  /** Takes in the branches of an `if`; what only some of them set keeps its outer value in the others. */
  mergeBranches(branches: readonly Symbols[]): void {
    const stored = new Set(branches.flatMap((branch) => [...branch.#stores]).filter((name) => !this.#stores.has(name)));
    for (const branch of branches) {
      for (const [name, load] of branch.#loads) this.#loads.set(name, load);
      for (const name of branch.#stores) this.#stores.add(name);
    }
    for (const name of stored) this.#loads.set(name, this.#isOuter(name) ? 'alias' : 'resolve');
  }

  copy(): Symbols {
    return new Symbols(this.parent, new Map(this.#loads), new Set(this.#stores));
  }

  #isOuter(name: string): boolean {
    return (this.parent?.ownerOf(name) ?? null) !== null;
  }
}

/** Adds the names of statements that run in this frame; frames inside them are left out. */
export function addStatements(symbols: Symbols, statements: readonly Statement[]): void {
  for (const statement of statements) addStatement(symbols, statement);
}

export function addExpression(symbols: Symbols, expression: Expression | null): void {
  if (expression === null) return;
  if (expression.type === 'name') symbols.load(expression.name);
  else for (const child of childrenOf(expression)) addExpression(symbols, child as Expression);
}

function addTarget(symbols: Symbols, target: Target): void {
  if (target.type === 'name-target') symbols.store(target.name);
  else if (target.type === 'namespace-target') symbols.load(target.name);
  else for (const item of target.items) addTarget(symbols, item);
}

export function addParameterTarget(symbols: Symbols, target: Target): void {
  if (target.type === 'name-target') symbols.declareParameter(target.name);
  else if (target.type === 'tuple-target') for (const item of target.items) addParameterTarget(symbols, item);
}

export function addParameters(symbols: Symbols, parameters: readonly MacroParameter[]): void {
  for (const {name} of parameters) symbols.declareParameter(name);
  for (const {defaultValue} of parameters) addExpression(symbols, defaultValue);
}

function addStatement(symbols: Symbols, node: Statement): void {
  switch (node.type) {
    case 'output':
      for (const expression of node.expressions) addExpression(symbols, expression);
      break;
    case 'if':
      addIf(symbols, node.branches, node.otherwise);
      break;
    case 'for':
      addExpression(symbols, node.iterable);
      break;
    case 'set':
      addExpression(symbols, node.value);
      addTarget(symbols, node.target);
      break;
    case 'set-block':
      addTarget(symbols, node.target);
      break;
    case 'with':
      for (const {value} of node.bindings) addExpression(symbols, value);
      break;
    case 'macro':
      symbols.store(node.name);
      break;
    case 'call-block':
      addExpression(symbols, node.call);
      break;
    case 'filter-block':
      addExpression(symbols, node.filter);
      break;
    case 'external':
      addExpression(symbols, node.template);
      for (const name of node.names) symbols.store(name);
      break;
    default:
  }
}

type Branches = readonly {readonly test: Expression; readonly body: readonly Statement[]}[];

/** The first branch, all others and the rest are three ways to go, as in jinja2. */
function addIf(symbols: Symbols, [first, ...others]: Branches, otherwise: readonly Statement[]): void {
  addExpression(symbols, first!.test);
  const bodySymbols = symbols.copy();
  addStatements(bodySymbols, first!.body);
  const elseIfSymbols = symbols.copy();
  for (const branch of others) addIf(elseIfSymbols, [branch], []);
  const elseSymbols = symbols.copy();
  addStatements(elseSymbols, otherwise);
  symbols.mergeBranches([bodySymbols, elseIfSymbols, elseSymbols]);
}

/**
 * Which of some special names (`loop`, `caller`, `varargs`) a body reads without setting them first. Loops and macros
 * inside count, blocks do not; as in jinja2, a name that is set anywhere before is out.
 */
export function undeclaredNames(body: readonly AnyNode[], wanted: readonly string[]): Set<string> {
  const open = new Set(wanted);
  const found = new Set<string>();
  visitNames(body, (name, isLoad) => {
    if (isLoad && open.has(name)) found.add(name);
    else open.delete(name);
  });
  return found;
}

function visitNames(nodes: readonly AnyNode[], visit: (name: string, isLoad: boolean) => void): void {
  for (const node of nodes) {
    if (node.type === 'name') visit(node.name, true);
    else if (node.type === 'name-target') visit(node.name, false);
    else if (node.type !== 'block') visitNames(childrenOf(node), visit);
  }
}
