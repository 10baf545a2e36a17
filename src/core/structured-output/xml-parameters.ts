/** Arguments of a tool call as `<parameter=name>value</parameter>`, the form that Qwen's coder models write. */
import {charactersOf} from './code-point-ranges.ts';
import {freeText} from './free-text.ts';
import {type GrammarBuilder, type GrammarNode, nothing, oneOf, optional, repeat, sequence, text} from './grammar.ts';
import {type JsonSchemaOptions, jsonSchemaNode} from './json-schema/json-schema-grammar.ts';

interface ObjectSchema {
  properties?: Record<string, {type?: unknown}>;
  required?: string[];
}

const space = repeat(oneOf(charactersOf(' \n\t')), 0);
const close = '</parameter>';

/** In the order of the schema; texts stand as they are, other values as JSON. */
export function xmlParametersNode(schema: unknown, builder: GrammarBuilder, options: JsonSchemaOptions): GrammarNode {
  const root = (typeof schema === 'object' && schema !== null ? schema : {}) as ObjectSchema & Record<string, unknown>;
  const {properties = {}, required = []} = root;
  const {$defs, definitions} = root;
  const parameters = Object.entries(properties).map(([name, value]) => {
    const open = text(`<parameter=${name}>`);
    const content = isText(value)
      ? freeText({markers: new Map([[close, () => nothing]]), mayEnd: false}, builder)
      : sequence(space, jsonSchemaNode({...value, $defs, definitions}, builder, options), space, text(close));
    const node = sequence(space, open, content);
    return required.includes(name) ? node : optional(node);
  });
  return sequence(...parameters, space);
}

/** Without type, or of a type that is no other than text. */
const isText = ({type}: {type?: unknown}): boolean => type === undefined || type === 'string';
