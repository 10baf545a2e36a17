/**
 * How the markup of a call is spelled, for grammars that hold a model to it: a structural tag with the functions of a
 * request. Formats that are not in the table get their demanded calls as JSON under a schema.
 */

import type {ToolFormat} from './format.ts';
import type {JsonSchema} from './output-parser.ts';

/** The content of a tag, in the terms of xgrammar's structural tags. */
type TagContent = Readonly<Record<string, unknown>> & {type: string};

interface CallTag {
  /** Stands in front of the first call and behind the last one. */
  section?: readonly [open: string, close: string];
  /** Text of one call up to what the arguments begin with. */
  begin: (name: string) => string;
  /** Default: the arguments as JSON. */
  content?: (schema: JsonSchema) => TagContent;
  end: string;
  separator: string;
  /** What a free text must not hold unless a call follows. */
  trigger: string;
}

const jsonContent = (schema: JsonSchema): TagContent => ({type: 'json_schema', json_schema: schema});

function jsonInTags(tag: string): CallTag {
  return {
    begin: (name) => `<${tag}>\n{"name": ${JSON.stringify(name)}, "arguments": `,
    end: `}\n</${tag}>`,
    separator: '\n',
    trigger: `<${tag}>`,
  };
}

const llamaObject: CallTag = {
  begin: (name) => `{"name": ${JSON.stringify(name)}, "parameters": `,
  end: '}',
  separator: '; ',
  trigger: '{"name": ',
};

const qwenXml: CallTag = {
  begin: (name) => `<tool_call>\n<function=${name}>\n`,
  content: (schema) => ({type: 'qwen_xml_parameter', json_schema: schema}),
  end: '\n</function>\n</tool_call>',
  separator: '\n',
  trigger: '<tool_call>\n<function=',
};

const DEEPSEEK_SECTION = ['<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'] as const;

const deepseekV3: CallTag = {
  section: DEEPSEEK_SECTION,
  begin: (name) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n`,
  end: '\n```<｜tool▁call▁end｜>',
  separator: '\n',
  trigger: DEEPSEEK_SECTION[0],
};

const deepseekV31: CallTag = {
  section: DEEPSEEK_SECTION,
  begin: (name) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`,
  end: '<｜tool▁call▁end｜>',
  separator: '',
  trigger: DEEPSEEK_SECTION[0],
};

/** The number of a call is the model's to write. */
const kimiK2: CallTag = {
  section: ['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'],
  begin: (name) => `<|tool_call_begin|>functions.${name}:`,
  content: (schema) => ({
    type: 'sequence',
    elements: [
      {type: 'regex', pattern: '[0-9]{1,4}'},
      {type: 'const_string', value: '<|tool_call_argument_begin|>'},
      jsonContent(schema),
    ],
  }),
  end: '<|tool_call_end|>',
  separator: '',
  trigger: '<|tool_calls_section_begin|>',
};

const harmony: CallTag = {
  begin: (name) => `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`,
  end: '<|call|>',
  separator: '<|start|>assistant',
  trigger: '<|channel|>commentary to=',
};

/** By the first name of a format. */
const callTags: Readonly<Record<string, CallTag>> = {
  hermes: jsonInTags('tool_call'),
  longcat: jsonInTags('longcat_tool_call'),
  llama3_json: llamaObject,
  qwen3_coder: qwenXml,
  step3p5: qwenXml,
  step5: qwenXml,
  deepseek_v3: deepseekV3,
  deepseek_v31: deepseekV31,
  kimi_k2: kimiK2,
  openai: harmony,
};

/** True when calls can be demanded in the format's own markup. */
export function hasCallTag({names}: Pick<ToolFormat, 'names'>): boolean {
  return Object.hasOwn(callTags, names[0]);
}

/** A function that may be called; true as the schema allows any JSON value. */
export interface CallableFunction {
  name: string;
  schema: JsonSchema;
}

/**
 * The structural tag, as data.
 * @param mustCall false: text without a call is allowed, too
 */
export function callsAsTag(
  {names}: Pick<ToolFormat, 'names'>,
  functions: readonly CallableFunction[],
  {mustCall, onlyOne}: {mustCall: boolean; onlyOne: boolean},
): object | null {
  const tag = callTags[names[0]];
  if (tag === undefined) return null;
  const calls = {
    type: 'tags_with_separator',
    tags: functions.map((callable) => oneCall(tag, callable)),
    separator: tag.separator,
    at_least_one: true,
    stop_after_first: onlyOne,
  };
  const all =
    tag.section === undefined ? calls : {type: 'tag', begin: tag.section[0], content: calls, end: tag.section[1]};
  return {type: 'structural_tag', format: mustCall ? all : textOr(tag, calls, onlyOne)};
}

function oneCall(tag: CallTag, {name, schema}: CallableFunction): object {
  return {type: 'tag', begin: tag.begin(name), content: (tag.content ?? jsonContent)(schema), end: tag.end};
}

/** Free text, in which the trigger begins a call. */
function textOr(tag: CallTag, calls: {tags: object[]}, onlyOne: boolean): object {
  const tags =
    tag.section === undefined
      ? calls.tags
      : [{type: 'tag', begin: tag.section[0], content: calls, end: tag.section[1]}];
  return {type: 'triggered_tags', triggers: [tag.trigger], tags, at_least_one: false, stop_after_first: onlyOne};
}
