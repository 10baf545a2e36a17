/**
 * A template's text to its syntax tree: text, output and the tags of jinja2, its loop controls and transformers'
 * `generation`. Mistakes come in jinja2's words, with the place of the token at fault.
 */
import type {MacroParameter, Statement, TemplateTree} from './ast.ts';
import {normalizeSource, tokenize} from './lexer.ts';
import {TargetParser} from './target-parser.ts';
import {PlacedError, TemplateFault, toPythonError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import {TokenStream} from './token-stream.ts';

/** @throws TemplateFault */
export function parseTemplate(source: string): TemplateTree {
  const normalized = normalizeSource(source);
  try {
    return {body: new Parser(new TokenStream(tokenize(normalized))).parseBody([]), source: normalized};
  } catch (thrown) {
    const error = toPythonError(thrown);
    if (!error) throw thrown;
    throw new TemplateFault(error, normalized, error instanceof PlacedError ? error.offset : 0);
  }
}

const onlySpace = /^\s*$/;

class Parser extends TargetParser {
  /** Tags that are open. */
  readonly #tags: string[] = [];
  /** Names that may end the body of each of them. */
  readonly #endNames: (readonly string[])[] = [];

  readonly #statements: Readonly<Record<string, (start: number) => Statement>> = {
    autoescape: (start) => this.#parseAutoescape(start),
    block: (start) => this.#parseBlock(start),
    break: (start) => ({type: 'loop-control', kind: 'break', ...this.span(start)}),
    call: (start) => this.#parseCallBlock(start),
    continue: (start) => ({type: 'loop-control', kind: 'continue', ...this.span(start)}),
    extends: (start) => this.#parseExtends(start),
    filter: (start) => this.#parseFilterBlock(start),
    for: (start) => this.#parseFor(start),
    from: (start) => this.#parseFrom(start),
    generation: (start) => ({type: 'generation', body: this.#parseWholeBody('endgeneration'), ...this.span(start)}),
    if: (start) => this.#parseIf(start),
    import: (start) => this.#parseImport(start),
    include: (start) => this.#parseInclude(start),
    macro: (start) => this.#parseMacro(start),
    print: (start) => this.#parsePrint(start),
    set: (start) => this.#parseSet(start),
    with: (start) => this.#parseWith(start),
  };

  /** Statements up to a tag with one of the names, which stays in view; up to the end when there are no names. */
  parseBody(endNames: readonly string[]): Statement[] {
    const body: Statement[] = [];
    if (endNames.length > 0) this.#endNames.push(endNames);
    while (!this.stream.is('end')) {
      if (this.stream.is('block_begin')) {
        const {start} = this.stream.next();
        if (this.stream.atName(...endNames)) break;
        body.push(this.nested(() => this.#parseTag(start)));
        this.stream.expect('block_end');
      } else this.#parseTextOrOutput(body);
    }
    if (endNames.length > 0) this.#endNames.pop();
    return body;
  }

  #parseTextOrOutput(body: Statement[]): void {
    const {type, text, start, end} = this.stream.next();
    if (type === 'variable_begin') {
      const expression = this.parseTuple();
      this.stream.expect('variable_end');
      body.push({type: 'output', expressions: [expression], ...this.span(start)});
    } else if (text !== '') body.push({type: 'text', text, start, end});
  }

  #parseTag(start: number): Statement {
    const {type, text: name} = this.stream.current;
    if (type !== 'name') this.fail('tag name expected');
    const parse = Object.hasOwn(this.#statements, name) ? this.#statements[name] : undefined;
    if (!parse) this.#failUnexpected(name, this.#endNames);
    this.#tags.push(name);
    this.stream.next();
    const statement = parse(start);
    this.#tags.pop();
    return statement;
  }

  /** The rest of a tag and the body behind it, up to one of the end names, which stays in view. */
  #parseTagBody(...endNames: string[]): Statement[] {
    this.stream.skipOperator(':');
    this.stream.expect('block_end');
    const body = this.parseBody(endNames);
    if (this.stream.is('end')) this.#failUnexpected(null, [...this.#endNames, endNames]);
    return body;
  }

  #parseWholeBody(endName: string): Statement[] {
    const body = this.#parseTagBody(endName);
    this.stream.next();
    return body;
  }

  /** @param name of an unknown tag; null = the template ended too early */
  #failUnexpected(name: string | null, endNames: readonly (readonly string[])[]): never {
    const message = [name === null ? 'Unexpected end of template.' : `Encountered unknown tag ${stringRepr(name)}.`];
    const wanted = endNames.at(-1)?.map(stringRepr).join(' or ');
    if (wanted !== undefined && name !== null && endNames.flat().includes(name)) {
      message.push(
        `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${wanted}.`,
      );
    } else if (wanted !== undefined) message.push(`Jinja was looking for the following tags: ${wanted}.`);
    const innermost = this.#tags.at(-1);
    if (innermost !== undefined) {
      message.push(`The innermost block that needs to be closed is ${stringRepr(innermost)}.`);
    }
    return this.fail(message.join(' '));
  }

  #parseFor(start: number): Statement {
    const target = this.parseTarget({endName: 'in'});
    this.stream.expectName('in');
    const iterable = this.parseTuple({withoutConditional: true, endName: 'recursive'});
    const test = this.stream.skipName('if') ? this.parseExpression() : null;
    const recursive = this.stream.skipName('recursive');
    const body = this.#parseTagBody('endfor', 'else');
    const otherwise = this.stream.next().text === 'else' ? this.#parseWholeBody('endfor') : [];
    return {type: 'for', target, iterable, test, recursive, body, otherwise, ...this.span(start)};
  }

  #parseIf(start: number): Statement {
    const branches = [this.#parseBranch()];
    for (let end = this.stream.next(); end.text !== 'endif'; end = this.stream.next()) {
      if (end.text === 'else') {
        return {type: 'if', branches, otherwise: this.#parseWholeBody('endif'), ...this.span(start)};
      }
      branches.push(this.#parseBranch());
    }
    return {type: 'if', branches, otherwise: [], ...this.span(start)};
  }

  #parseBranch() {
    const test = this.parseTuple({withoutConditional: true});
    return {test, body: this.#parseTagBody('elif', 'else', 'endif')};
  }

  #parseSet(start: number): Statement {
    const target = this.parseTarget({withNamespace: true});
    if (this.stream.skipOperator('=')) return {type: 'set', target, value: this.parseTuple(), ...this.span(start)};
    const filter = this.parseBlockFilters(null);
    const body = this.#parseWholeBody('endset');
    return {type: 'set-block', target, filter, body, ...this.span(start)};
  }

  #parseWith(start: number): Statement {
    const bindings = this.#parseList(() => {
      const target = this.parseTarget();
      this.stream.expectOperator('=');
      return {target, value: this.parseExpression()};
    });
    return {type: 'with', bindings, body: this.#parseWholeBody('endwith'), ...this.span(start)};
  }

  /** Items with commas between them up to the end of the tag. */
  #parseList<T>(parseItem: () => T): T[] {
    const items: T[] = [];
    while (!this.stream.is('block_end')) {
      if (items.length > 0) this.stream.expectOperator(',');
      items.push(parseItem());
    }
    return items;
  }

  #parsePrint(start: number): Statement {
    return {type: 'output', expressions: this.#parseList(() => this.parseExpression()), ...this.span(start)};
  }

  #parseMacro(start: number): Statement {
    const {name} = this.parseName();
    const parameters = this.#parseParameters();
    return {type: 'macro', name, parameters, body: this.#parseWholeBody('endmacro'), ...this.span(start)};
  }

  #parseParameters(): MacroParameter[] {
    const parameters: MacroParameter[] = [];
    this.stream.expectOperator('(');
    while (!this.stream.atOperator(')')) {
      if (parameters.length > 0) this.stream.expectOperator(',');
      const {name} = this.parseName();
      const defaultValue = this.stream.skipOperator('=') ? this.parseExpression() : null;
      if (defaultValue === null && parameters.at(-1)?.defaultValue) {
        this.fail('non-default argument follows default argument');
      }
      parameters.push({name, defaultValue});
    }
    this.stream.next();
    return parameters;
  }

  #parseCallBlock(start: number): Statement {
    const parameters = this.stream.atOperator('(') ? this.#parseParameters() : [];
    const call = this.parseExpression();
    if (call.type !== 'call') this.fail('expected call', start);
    return {type: 'call-block', parameters, call, body: this.#parseWholeBody('endcall'), ...this.span(start)};
  }

  #parseFilterBlock(start: number): Statement {
    const first = this.parseFilter(null, this.stream.current.start);
    const filter = this.parseBlockFilters(first) ?? first;
    return {type: 'filter-block', filter, body: this.#parseWholeBody('endfilter'), ...this.span(start)};
  }

  #parseAutoescape(start: number): Statement {
    const value = this.parseExpression();
    return {type: 'autoescape', value, body: this.#parseWholeBody('endautoescape'), ...this.span(start)};
  }

  #parseBlock(start: number): Statement {
    const name = this.stream.expect('name').text;
    const scoped = this.stream.skipName('scoped');
    const required = this.stream.skipName('required');
    if (this.stream.atOperator('-')) {
      this.fail(
        'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
      );
    }
    const body = this.#parseWholeBody('endblock');
    if (required && !body.every((node) => node.type === 'text' && onlySpace.test(node.text))) {
      this.fail('Required blocks can only contain comments or whitespace');
    }
    this.stream.skipName(name);
    return {type: 'block', name, scoped, required, body, ...this.span(start)};
  }

  #parseExtends(start: number): Statement {
    return {type: 'external', kind: 'extends', template: this.parseExpression(), names: [], ...this.span(start)};
  }

  #parseInclude(start: number): Statement {
    const template = this.parseExpression();
    this.#skipPhrase(['ignore'], 'missing');
    this.#skipPhrase(['with', 'without'], 'context');
    return {type: 'external', kind: 'include', template, names: [], ...this.span(start)};
  }

  #parseImport(start: number): Statement {
    const template = this.parseExpression();
    this.stream.expectName('as');
    const {name} = this.parseName();
    this.#skipPhrase(['with', 'without'], 'context');
    return {type: 'external', kind: 'import', template, names: [name], ...this.span(start)};
  }

  #parseFrom(start: number): Statement {
    const template = this.parseExpression();
    this.stream.expectName('import');
    const names: string[] = [];
    for (;;) {
      if (names.length > 0) this.stream.expectOperator(',');
      if (this.#skipPhrase(['with', 'without'], 'context')) break;
      names.push(this.#parseImportedName());
      if (this.#skipPhrase(['with', 'without'], 'context') || !this.stream.atOperator(',')) break;
    }
    return {type: 'external', kind: 'from', template, names, ...this.span(start)};
  }

  /** The name under which something is imported. */
  #parseImportedName(): string {
    const {name, start} = this.parseName();
    if (name.startsWith('_')) {
      throw new PlacedError('TemplateAssertionError', 'names starting with an underline can not be imported', start);
    }
    return this.stream.skipName('as') ? this.parseName().name : name;
  }

  /** Takes two names when they follow each other. */
  #skipPhrase(firstNames: readonly string[], second: string): boolean {
    if (!this.stream.atName(...firstNames)) return false;
    const next = this.stream.look();
    if (next.type !== 'name' || next.text !== second) return false;
    this.stream.next();
    this.stream.next();
    return true;
  }
}
