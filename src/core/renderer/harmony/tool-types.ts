/**
 * Tools as Harmony shows them to the model: a namespace of function types that looks like TypeScript, made from the JSON
 * schemas of their parameters. The texts follow openai-harmony 0.0.8 (`src/encoding.rs`, json_schema_to_typescript)
 * to the last blank, oddities included, because the model was trained on them.
 */
import type {ChatTool} from '../../protocol/openai/chat-completion.ts';
import {isPlainObject, JsonFloat} from '../../util/parse-json.ts';

type Schema = Record<string, unknown>;

/** The section of the developer message that lists the tools. */
export function toolsSection(tools: readonly ChatTool[]): string {
  return [
    '# Tools\n\n## functions\n',
    'namespace functions {\n',
    ...tools.flatMap(functionType),
    '} // namespace functions',
  ].join('\n');
}

function functionType({function: {name, description, parameters}}: ChatTool): string[] {
  const argument = parameters === null ? '' : `_: ${typeText(parameters, '')}`;
  return [...lines(description ?? '').map((line) => `// ${line}`), `type ${name} = (${argument}) => any;\n`];
}

/** The lines of a text; a line feed at its end opens no further one. */
function lines(text: string): string[] {
  const all = text.split(/\r?\n/);
  return all.at(-1) === '' ? all.slice(0, -1) : all;
}

/** The type that a schema describes. `indent` stands before every further line. */
function typeText(schema: unknown, indent: string): string {
  if (!isPlainObject(schema)) return 'any';
  if (Array.isArray(schema.oneOf)) return unionText(schema.oneOf, indent);
  if (Array.isArray(schema.type)) return namesText(schema.type) || 'any';
  if (typeof schema.type !== 'string') return 'any';
  return typeTexts.get(schema.type)?.(schema, indent) ?? 'any';
}

const typeTexts: ReadonlyMap<string, (schema: Schema, indent: string) => string> = new Map([
  ['object', objectText],
  ['string', stringText],
  ['number', () => 'number'],
  ['integer', () => 'number'],
  ['boolean', () => 'boolean'],
  ['array', arrayText],
]);

/** `"type": ["integer", "null"]` */
function namesText(types: readonly unknown[]): string {
  return types
    .filter((type) => typeof type === 'string')
    .map((type) => (type === 'integer' ? 'number' : type))
    .join(' | ');
}

function stringText({enum: values}: Schema): string {
  const literals = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
  return literals.length > 0 ? literals.map((value) => `"${value}"`).join(' | ') : 'string';
}

function arrayText({items}: Schema, indent: string): string {
  return items === undefined ? 'Array<any>' : `${typeText(items, indent)}[]`;
}

/** A `oneOf` that is no property: every member on a line of its own. */
function unionText(members: readonly unknown[], indent: string): string {
  return members.map((member) => `\n${indent} | ${memberText(member, indent)}`).join('');
}

function memberText(member: unknown, indent: string): string {
  return orNull(typeText(member, `${indent}   `), member) + trailingComment(memberComments(member, null));
}

function objectText(schema: Schema, indent: string): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isPlainObject(schema.properties) ? Object.entries(schema.properties) : [];
  const texts = properties.map(([key, value]) =>
    propertyText(`${indent}${key}${required.has(key) ? '' : '?'}:`, isPlainObject(value) ? value : {}, indent),
  );
  return `${commentLine(schema.description, indent)}{\n${texts.join('')}${indent}}`;
}

/** @param head name of the property with its colon, indented */
function propertyText(head: string, schema: Schema, indent: string): string {
  const comments = `${titleLines(schema, indent)}${isUnion(schema) ? '' : commentLine(schema.description, indent)}`;
  const examples = exampleLines(schema, indent);
  const body = isUnion(schema) ? unionProperty(head, schema, indent) : plainProperty(head, schema, indent);
  return comments + examples + body;
}

function isUnion(schema: Schema): schema is Schema & {oneOf: unknown[]} {
  return Array.isArray(schema.oneOf);
}

function plainProperty(head: string, schema: Schema, indent: string): string {
  const type = orNull(typeText(schema, `${indent}    `), schema);
  return `${head} ${type},${trailingComment(defaultComments(schema))}\n`;
}

function unionProperty(head: string, schema: Schema & {oneOf: unknown[]}, indent: string): string {
  const {description, oneOf: members} = schema;
  const [first] = members;
  const isRepeated = isPlainObject(first) && first.description === description;
  const comment = isRepeated ? '' : commentLine(description, indent);
  const defaults = defaultComments(schema).map((text) => `${indent}// ${text}\n`);
  const texts = members.map((member, index) => {
    const isDescribed = index === 0 && comment !== '';
    const shown = isDescribed ? defaultComments(member) : memberComments(member, description);
    return `${indent} | ${orNull(typeText(member, `${indent}   `), member)}${trailingComment(shown)}\n`;
  });
  return [comment, ...defaults, `${head}\n`, ...texts, `${indent},\n`].join('');
}

function titleLines({title}: Schema, indent: string): string {
  return typeof title === 'string' ? `${indent}// ${title}\n${indent}//\n` : '';
}

function commentLine(description: unknown, indent: string): string {
  return typeof description === 'string' ? `${indent}// ${description}\n` : '';
}

function exampleLines({examples}: Schema, indent: string): string {
  if (!Array.isArray(examples) || examples.length === 0) return '';
  const shown = examples.filter((example) => typeof example === 'string');
  return [`${indent}// Examples:\n`, ...shown.map((example) => `${indent}// - "${example}"\n`)].join('');
}

/** @param known description that stands above already */
function memberComments(member: unknown, known: unknown): string[] {
  const description = isPlainObject(member) ? member.description : null;
  const isShown = typeof description === 'string' && description !== known;
  return [...(isShown ? [description] : []), ...defaultComments(member)];
}

/** The default of a schema; texts are in quotes unless they are one of a list of values. */
function defaultComments(schema: unknown): string[] {
  if (!isPlainObject(schema) || schema.default === undefined) return [];
  const {default: value, enum: values} = schema;
  if (typeof value !== 'string') return [`default: ${jsonText(value)}`];
  const isEnum = Array.isArray(values) && values.length > 0;
  return [isEnum ? `default: ${value}` : `default: "${value}"`];
}

function trailingComment(texts: readonly string[]): string {
  return texts.length > 0 ? ` // ${texts.join(' ')}` : '';
}

function orNull(type: string, schema: unknown): string {
  const isNullable = isPlainObject(schema) && schema.nullable === true;
  return isNullable && !type.includes('null') ? `${type} | null` : type;
}

/** Compact JSON as Rust's serde_json writes it. */
function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (isPlainObject(value)) {
    return `{${Object.entries(value)
      .map(([key, entry]) => `${JSON.stringify(key)}:${jsonText(entry)}`)
      .join(',')}}`;
  }
  if (value instanceof JsonFloat) return floatText(value.value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatText(value);
  return JSON.stringify(value);
}

/** From this size on, and below 0.00001, floats are written with an exponent. */
const largestPlainFloat = 1e16;
const smallestPlainFloat = 1e-5;

function floatText(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return 'null';
  if (size !== 0 && (size >= largestPlainFloat || size < smallestPlainFloat)) {
    return value.toExponential().replace('e+', 'e');
  }
  if (Number.isInteger(value)) return `${Object.is(value, -0) ? '-0' : value}.0`;
  const text = String(value);
  return text.includes('e') ? value.toFixed(20).replace(/0+$/, '') : text;
}
