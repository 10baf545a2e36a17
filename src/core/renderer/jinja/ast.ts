/**
 * The syntax tree of a template. Every node knows where it stands in the source: `[start, end)`, counted in UTF-16 units
 * of the normalized source (`lexer.ts`). What jinja2 takes apart in its compiler (scopes, names) is not in here.
 */
import type {BinaryOperator} from './arithmetic.ts';
import type {OrderOperator} from './comparison.ts';
import type {Value} from './values.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Node<Type extends string> extends Span {
  readonly type: Type;
}

export type CompareOperator = OrderOperator | '==' | '!=' | 'in' | 'not in';

export interface NameExpression extends Node<'name'> {
  readonly name: string;
}

export interface ConstantExpression extends Node<'constant'> {
  readonly value: Value;
}

export interface SequenceExpression extends Node<'list' | 'tuple'> {
  readonly items: readonly Expression[];
}

export interface DictExpression extends Node<'dict'> {
  readonly entries: readonly {readonly key: Expression; readonly value: Expression}[];
}

/** `object.name` */
export interface AttributeExpression extends Node<'attribute'> {
  readonly object: Expression;
  readonly name: string;
}

/** `object[key]` */
export interface ItemExpression extends Node<'item'> {
  readonly object: Expression;
  readonly key: Expression;
}

/** `start:stop:step`, only as the key of an item. */
export interface SliceExpression extends Node<'slice'> {
  readonly from: Expression | null;
  readonly to: Expression | null;
  readonly step: Expression | null;
}

/** What stands between the brackets of a call. */
export interface CallSyntax {
  readonly positional: readonly Expression[];
  readonly keyword: readonly {readonly name: string; readonly value: Expression}[];
  /** `*expression` */
  readonly positionalSpread: Expression | null;
  /** `**expression` */
  readonly keywordSpread: Expression | null;
}

export interface CallExpression extends Node<'call'> {
  readonly callee: Expression;
  readonly call: CallSyntax;
}

export interface FilterExpression extends Node<'filter'> {
  readonly name: string;
  /** Where the name stands; errors of the filter are shown there. */
  readonly nameStart: number;
  /** Null = the text of a block. */
  readonly operand: Expression | null;
  readonly call: CallSyntax;
}

export interface TestExpression extends Node<'test'> {
  readonly name: string;
  readonly nameStart: number;
  readonly operand: Expression;
  readonly call: CallSyntax;
}

export interface UnaryExpression extends Node<'unary'> {
  readonly operator: 'not' | '-' | '+';
  readonly operand: Expression;
}

export interface BinaryExpression extends Node<'binary'> {
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** `a ~ b ~ c` */
export interface ConcatExpression extends Node<'concat'> {
  readonly items: readonly Expression[];
}

/** `a < b <= c` */
export interface CompareExpression extends Node<'compare'> {
  readonly first: Expression;
  readonly rest: readonly {readonly operator: CompareOperator; readonly operand: Expression}[];
}

export interface LogicalExpression extends Node<'logical'> {
  readonly operator: 'and' | 'or';
  readonly left: Expression;
  readonly right: Expression;
}

/** `then if test else otherwise` */
export interface ConditionalExpression extends Node<'conditional'> {
  readonly test: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression | null;
}

export type Expression =
  | AttributeExpression
  | BinaryExpression
  | CallExpression
  | CompareExpression
  | ConcatExpression
  | ConditionalExpression
  | ConstantExpression
  | DictExpression
  | FilterExpression
  | ItemExpression
  | LogicalExpression
  | NameExpression
  | SequenceExpression
  | SliceExpression
  | TestExpression
  | UnaryExpression;

export interface NameTarget extends Node<'name-target'> {
  readonly name: string;
}

/** `name.attribute`, for namespaces. */
export interface NamespaceTarget extends Node<'namespace-target'> {
  readonly name: string;
  readonly attribute: string;
}

export interface TupleTarget extends Node<'tuple-target'> {
  readonly items: readonly Target[];
}

export type Target = NameTarget | NamespaceTarget | TupleTarget;

export interface TextStatement extends Node<'text'> {
  readonly text: string;
}

/** `{{ a }}` or `{% print a, b %}` */
export interface OutputStatement extends Node<'output'> {
  readonly expressions: readonly Expression[];
}

export interface ForStatement extends Node<'for'> {
  readonly target: Target;
  readonly iterable: Expression;
  readonly test: Expression | null;
  readonly recursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
}

export interface IfStatement extends Node<'if'> {
  /** `if` and every `elif`. */
  readonly branches: readonly {readonly test: Expression; readonly body: readonly Statement[]}[];
  readonly otherwise: readonly Statement[];
}

export interface SetStatement extends Node<'set'> {
  readonly target: Target;
  readonly value: Expression;
}

export interface SetBlockStatement extends Node<'set-block'> {
  readonly target: Target;
  readonly filter: FilterExpression | null;
  readonly body: readonly Statement[];
}

export interface WithStatement extends Node<'with'> {
  readonly bindings: readonly {readonly target: Target; readonly value: Expression}[];
  readonly body: readonly Statement[];
}

export interface MacroParameter {
  readonly name: string;
  readonly defaultValue: Expression | null;
}

export interface MacroStatement extends Node<'macro'> {
  readonly name: string;
  readonly parameters: readonly MacroParameter[];
  readonly body: readonly Statement[];
}

export interface CallBlockStatement extends Node<'call-block'> {
  readonly parameters: readonly MacroParameter[];
  readonly call: CallExpression;
  readonly body: readonly Statement[];
}

export interface FilterBlockStatement extends Node<'filter-block'> {
  readonly filter: FilterExpression;
  readonly body: readonly Statement[];
}

export interface AutoescapeStatement extends Node<'autoescape'> {
  readonly value: Expression;
  readonly body: readonly Statement[];
}

/** transformers' mark around what the model wrote; prints its body. */
export interface GenerationStatement extends Node<'generation'> {
  readonly body: readonly Statement[];
}

export interface BlockStatement extends Node<'block'> {
  readonly name: string;
  /** Sees the variables around it. */
  readonly scoped: boolean;
  /** Must be filled by another template, which there never is. */
  readonly required: boolean;
  readonly body: readonly Statement[];
}

/** What needs another template: there never is one. */
export interface ExternalStatement extends Node<'external'> {
  readonly kind: 'extends' | 'include' | 'import' | 'from';
  readonly template: Expression;
  /** Names that an import would set. */
  readonly names: readonly string[];
}

export interface LoopControlStatement extends Node<'loop-control'> {
  readonly kind: 'break' | 'continue';
}

export type Statement =
  | AutoescapeStatement
  | BlockStatement
  | CallBlockStatement
  | ExternalStatement
  | FilterBlockStatement
  | ForStatement
  | GenerationStatement
  | IfStatement
  | LoopControlStatement
  | MacroStatement
  | OutputStatement
  | SetBlockStatement
  | SetStatement
  | TextStatement
  | WithStatement;

export interface TemplateTree {
  readonly body: readonly Statement[];
  /** The source that the nodes' spans count in. */
  readonly source: string;
}

export type AnyNode = Expression | Statement | Target;
