/** What may stand left of `=` and `in`: names, `name.attribute` of namespaces, and tuples of these. */
import type {Expression, NamespaceTarget, NameTarget, Target} from './ast.ts';
import {ExpressionParser, type TupleOptions} from './expression-parser.ts';
import {stringRepr} from './text.ts';

/** jinja2's class names, as its error texts show them. */
const nodeNames: Readonly<Partial<Record<Expression['type'], string>>> = {
  constant: 'const',
  attribute: 'getattr',
  item: 'getitem',
  conditional: 'condexpr',
};

const operatorNames: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '//': 'floordiv',
  '%': 'mod',
  '**': 'pow',
};

const unaryNames: Readonly<Record<string, string>> = {'-': 'neg', '+': 'pos', not: 'not'};

export class TargetParser extends ExpressionParser {
  /** Namespace targets met while a target is read, by the expression that stands for them. */
  readonly #namespaceTargets = new Map<Expression, NamespaceTarget>();
  #allowsNamespaces = false;

  protected parseName(): NameTarget {
    const {text, start, end} = this.stream.expect('name');
    return {type: 'name-target', name: text, start, end};
  }

  /** @param options.withNamespace allows `name.attribute` */
  protected parseTarget({withNamespace = false, endName}: {withNamespace?: boolean; endName?: string} = {}): Target {
    this.#allowsNamespaces = withNamespace;
    const options: TupleOptions = {simplified: true, ...(endName === undefined ? {} : {endName})};
    const expression = this.parseTuple(options);
    this.#allowsNamespaces = false;
    const target = this.#toTarget(expression);
    if (target === null) this.fail(`can't assign to ${stringRepr(nodeName(expression))}`, expression.start);
    return target;
  }

  protected override parsePrimary(): Expression {
    const primary = super.parsePrimary();
    if (this.#allowsNamespaces && primary.type === 'name' && this.stream.skipOperator('.')) {
      const attribute = this.stream.expect('name').text;
      const span = this.span(primary.start);
      const whole: Expression = {type: 'attribute', object: primary, name: attribute, ...span};
      this.#namespaceTargets.set(whole, {type: 'namespace-target', name: primary.name, attribute, ...span});
      return whole;
    }
    return primary;
  }

  /** Null for what cannot be assigned to. */
  #toTarget(expression: Expression): Target | null {
    const {start, end} = expression;
    if (expression.type === 'name') return {type: 'name-target', name: expression.name, start, end};
    if (expression.type !== 'tuple') return this.#namespaceTargets.get(expression) ?? null;
    const items = expression.items.map((item) => this.#toTarget(item));
    return items.every((item) => item !== null) ? {type: 'tuple-target', items, start, end} : null;
  }
}

function nodeName(expression: Expression): string {
  if (expression.type === 'unary') return unaryNames[expression.operator]!;
  if (expression.type === 'binary') return operatorNames[expression.operator]!;
  return expression.type === 'logical' ? expression.operator : (nodeNames[expression.type] ?? expression.type);
}
