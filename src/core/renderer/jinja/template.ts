/**
 * A template, compiled once from its syntax tree and rendered many times. What comes before: lexer and parser; what is
 * inside: symbols (which name means what) and compiler (syntax tree to functions). Nothing here knows about chats.
 */
import type {BlockStatement, TemplateTree} from './ast.ts';
import {compileBody} from './compile-statement.ts';
import {checkConstantKeys} from './constant-folding.ts';
import {type Execute, Frame, type Unit} from './frame.ts';
import {defaultRenderLimits, type RenderLimits} from './limits.ts';
import {Meter} from './meter.ts';
import {PyFunction, Undefined} from './objects.ts';
import {type BlockBody, createScope, type Environment, Runtime} from './runtime.ts';
import {addStatements, undeclaredNames} from './symbols.ts';
import {PlacedError, TemplateFault, toPythonError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import {PyObject, type Value} from './values.ts';
import {walkAll} from './walk.ts';

export interface RenderOptions {
  /** The clock of `strftime_now`. */
  readonly now: () => Date;
  readonly limits?: Partial<RenderLimits>;
  /** Hears where in the text a `generation` block stands, in UTF-16 units. */
  readonly onGenerated?: (start: number, end: number) => void;
  /** The clock of the time limit. */
  readonly monotonicMs?: () => number;
}

export interface CompiledTemplate {
  /** Names that the template reads and does not set itself, those of functions among them. */
  readonly undeclared: ReadonlySet<string>;
  /**
   * @throws TemplateFault for every mistake of the template; RenderTimeoutError
   */
  render(variables: ReadonlyMap<string, Value>, options: RenderOptions): string;
}

/** @throws TemplateFault when the tree has mistakes that show before it runs, such as an unknown filter */
export function compileTemplate(tree: TemplateTree, environment: Environment): CompiledTemplate {
  const undeclared = new Set<string>();
  const {run, blocks} = located(
    tree.source,
    () => 0,
    () => compileTree(tree, environment, undeclared),
  );
  return {
    undeclared,
    render(variables, {now, limits, onGenerated, monotonicMs = () => performance.now()}) {
      const meter = new Meter({...defaultRenderLimits, ...limits}, monotonicMs);
      const runtime = new Runtime({environment, variables, blocks, meter, now, ...(onGenerated && {onGenerated})});
      return located(
        tree.source,
        () => runtime.position,
        () => {
          run(runtime);
          return runtime.output;
        },
      );
    },
  };
}

function compileTree(tree: TemplateTree, environment: Environment, undeclared: Set<string>) {
  const statements = [...walkAll(tree.body)].filter((node) => node.type === 'block');
  assertDistinctBlocks(statements);
  checkConstantKeys(tree.body);
  const unit: Unit = {source: tree.source, environment, undeclared, hasBlocks: statements.length > 0, compileBody};
  const blocks = new Map(statements.map((block) => [block.name, compileBlock(block, unit)]));
  return {run: compileOutermost(tree.body, unit, true), blocks};
}

function compileBlock(block: BlockStatement, unit: Unit): BlockBody {
  const run = compileOutermost(block.body, unit, false, block.name);
  return (runtime) => run(runtime);
}

/** The template itself or a block: a frame that sees no other, and perhaps `self` and `super`. */
function compileOutermost(body: TemplateTree['body'], unit: Unit, isTop: boolean, blockName?: string): BlockBody {
  const frame = Frame.outermost(unit, {isTop});
  const special = specialNames(body, blockName);
  for (const name of special.keys()) frame.symbols.declareParameter(name);
  addStatements(frame.symbols, body);
  const enter = frame.entry();
  const run: Execute = unit.compileBody(body, frame);
  return (runtime) => {
    const scope = createScope(frame.layout.size, null);
    for (const [name, make] of special) scope.slots[frame.variable(name).index] = make(runtime);
    enter(runtime, scope);
    run(runtime, scope);
  };
}

function specialNames(body: TemplateTree['body'], blockName?: string): Map<string, (runtime: Runtime) => Value> {
  const used = undeclaredNames(body, blockName === undefined ? ['self'] : ['self', 'super']);
  const special = new Map<string, (runtime: Runtime) => Value>();
  if (used.has('self')) special.set('self', (runtime) => new TemplateReference(runtime));
  if (used.has('super')) special.set('super', () => missingParent(blockName!));
  return special;
}

/** `self`: the blocks of the template as functions. */
class TemplateReference extends PyObject {
  readonly typeName = 'TemplateReference';
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    super();
    this.#runtime = runtime;
  }

  toRepr(): string {
    return '<TemplateReference None>';
  }

  override item(key: Value): Value | undefined {
    const run = typeof key === 'string' ? this.#runtime.blocks.get(key) : undefined;
    return run && new PyFunction(String(key), () => this.#runtime.call(() => run(this.#runtime)));
  }
}

function missingParent(name: string): Undefined {
  return Undefined.ofHint(`there is no parent block called ${stringRepr(name)}.`);
}

function assertDistinctBlocks(blocks: readonly BlockStatement[]): void {
  const names = new Set<string>();
  for (const {name, start} of blocks) {
    if (names.has(name)) {
      throw new PlacedError('TemplateAssertionError', `block ${stringRepr(name)} defined twice`, start);
    }
    names.add(name);
  }
}

/** Gives errors their place in the template. */
function located<Result>(source: string, position: () => number, action: () => Result): Result {
  try {
    return action();
  } catch (thrown) {
    const error = toPythonError(thrown);
    if (!error) throw thrown;
    throw new TemplateFault(error, source, error instanceof PlacedError ? error.offset : position());
  }
}
