/**
 * How each format spells a call, for grammars that hold a model to it. A row for each format, by its first name; formats
 * that are not in the table cannot be held to their markup.
 */

import type {SchemaType} from '../argument-readers/coerce-value.ts';
import type {JsonSchema} from '../output-parser.ts';
import {gemmaValues, MINIMAX, minimaxValues} from './nested-markups.ts';
import {nestedObject} from './nested-values.ts';
import {json, jsonArguments, literal, matching, sequence, type TagContent, textBetween} from './tag-content.ts';
import {namesParameters, taggedParameters} from './tagged-parameters.ts';

export interface CallSpelling {
  /** Stands in front of the first call and behind the last one. */
  section?: readonly [open: string, close: string];
  /** Text of one call up to what the arguments begin with. */
  begin: (name: string) => string;
  /** Default: the arguments as a JSON object. A schema of true holds them to nothing else. */
  content?: (schema: JsonSchema, name: string) => TagContent;
  end: string;
  separator: string;
  /** What a free text must not hold unless a call follows. */
  trigger: string;
  /** A thought that may stand in front of demanded calls, where answers do not begin in one. */
  thought?: readonly [open: string, close: string];
}

const quoted = (text: string): string => JSON.stringify(text);

function jsonInTags(tag: string): CallSpelling {
  return {
    begin: (name) => `<${tag}>\n{"name": ${quoted(name)}, "arguments": `,
    end: `}\n</${tag}>`,
    separator: '\n',
    trigger: `<${tag}>`,
  };
}

/** Without a schema, the reference lets the arguments be any JSON value; its recorded answers show that. */
const hermes: CallSpelling = {...jsonInTags('tool_call'), content: json};

const llamaObject: CallSpelling = {
  begin: (name) => `{"name": ${quoted(name)}, "parameters": `,
  end: '}',
  separator: '; ',
  trigger: '{"name": ',
};

/** @param gap what stands between tags */
function functionTags(gap: '' | '\n'): CallSpelling {
  return {
    begin: (name) => `<tool_call>${gap}<function=${name}>${gap}`,
    content: taggedParameters({open: (key) => [`<parameter=${key}>${gap}`], close: `${gap}</parameter>`, joint: gap}),
    end: `</function>${gap}</tool_call>`,
    separator: '\n',
    trigger: `<tool_call>${gap}<function=`,
  };
}

const pairContent = taggedParameters({
  open: (key) => [`<arg_key>${key}</arg_key>`, '<arg_value>'],
  close: '</arg_value>',
  joint: 'either',
});

/** Line feeds are up to the checkpoint. */
const argumentPairs: CallSpelling = {
  begin: (name) => `<tool_call>${name}`,
  content: (schema) => sequence(matching('\\n?'), pairContent(schema)),
  end: '</tool_call>',
  separator: '\n',
  trigger: '<tool_call>',
};

const hunyuanPairs: CallSpelling = {
  ...argumentPairs,
  section: ['<tool_calls>', '</tool_calls>'],
  separator: '',
  trigger: '<tool_calls>',
};

function invokes(block: string, parameter: (key: string, type: SchemaType) => string, prefix = ''): CallSpelling {
  return {
    section: [`<${block}>\n`, `</${block}>`],
    begin: (name) => `<${prefix}invoke name="${name}">\n`,
    content: taggedParameters({
      open: (key, type) => [`<${prefix}${parameter(key, type)}>`],
      close: `</${prefix}parameter>`,
      joint: '\n',
    }),
    end: `</${prefix}invoke>\n`,
    separator: '',
    trigger: `<${block}>`,
  };
}

const plainParameter = (key: string): string => `parameter name="${key}"`;
const DSML = '｜DSML｜';

function dsmlInvokes(block: string, space = ''): CallSpelling {
  const prefix = DSML + space;
  return invokes(prefix + block, (key, type) => `${plainParameter(key)} string="${type === 'string'}"`, prefix);
}

const DEEPSEEK_SECTION = ['<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'] as const;

const deepseekV3: CallSpelling = {
  section: DEEPSEEK_SECTION,
  begin: (name) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n`,
  end: '\n```<｜tool▁call▁end｜>',
  separator: '\n',
  trigger: DEEPSEEK_SECTION[0],
};

const deepseekV31: CallSpelling = {
  section: DEEPSEEK_SECTION,
  begin: (name) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`,
  end: '<｜tool▁call▁end｜>',
  separator: '',
  trigger: DEEPSEEK_SECTION[0],
};

/** The number of a call is the model's to write. */
const kimiK2: CallSpelling = {
  section: ['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'],
  begin: (name) => `<|tool_call_begin|>functions.${name}:`,
  content: (schema) => sequence(matching('[0-9]{1,4}'), literal('<|tool_call_argument_begin|>'), jsonArguments(schema)),
  end: '<|tool_call_end|>',
  separator: '',
  trigger: '<|tool_calls_section_begin|>',
};

const kimiArguments = taggedParameters({
  open: (key, type) => [`<|open|>argument key="${key}" type="${type === 'integer' ? 'number' : type}"<|sep|>`],
  close: '<|close|>argument<|sep|>',
  joint: '',
});

const kimiK3: CallSpelling = {
  section: ['<|open|>tools<|sep|>', '<|close|>tools<|sep|>'],
  begin: (name) => `<|open|>call tool="${name}" index="`,
  content: (schema) => sequence(matching('[1-9][0-9]{0,3}'), literal('"<|sep|>'), kimiArguments(schema)),
  end: '<|close|>call<|sep|>',
  separator: '',
  trigger: '<|open|>tools<|sep|>',
};

/** With the arguments' own marker, for tokenizers that have one, or without. */
const mistralSlots: CallSpelling = {
  begin: (name) => `[TOOL_CALLS]${name}`,
  content: (schema) => sequence(matching('(\\[ARGS\\])?'), jsonArguments(schema)),
  end: '',
  separator: '',
  trigger: '[TOOL_CALLS]',
  thought: ['[THINK]', '[/THINK]'],
};

const mistralArray: CallSpelling = {
  section: ['[TOOL_CALLS] [', ']'],
  begin: (name) => `{"name": ${quoted(name)}, "arguments": `,
  end: '}',
  separator: ', ',
  trigger: '[TOOL_CALLS]',
};

const harmony: CallSpelling = {
  begin: (name) => `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`,
  end: '<|call|>',
  separator: '<|start|>assistant',
  trigger: '<|channel|>commentary to=',
  thought: ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant'],
};

const inkling: CallSpelling = {
  begin: (name) => `<|content_invoke_tool_json|>{"name": ${quoted(name)}, "args": `,
  end: '}<|end_message|>',
  separator: '<|message_model|>',
  trigger: '<|content_invoke_tool_json|>',
  thought: ['<|content_thinking|>', '<|end_message|><|message_model|>'],
};

/** The number of a call is the model's to write here, too. */
const cohere: CallSpelling = {
  section: ['<|START_ACTION|>[\n', '\n]<|END_ACTION|>'],
  begin: () => '    {"tool_call_id": "',
  content: (schema, name) =>
    sequence(matching('[0-9]{1,4}'), literal(`", "tool_name": ${quoted(name)}, "parameters": `), jsonArguments(schema)),
  end: '}',
  separator: ',\n',
  trigger: '<|START_ACTION|>',
  thought: ['<|START_THINKING|>', '<|END_THINKING|>'],
};

const plamoMarker = (name: string): string => `<|plamo:${name}:plamo|>`;

const plamo3: CallSpelling = {
  section: [plamoMarker('begin_tool_requests'), plamoMarker('end_tool_requests')],
  begin: (name) =>
    [
      ...['begin_tool_request', 'begin_tool_name'].map(plamoMarker),
      name,
      ...['end_tool_name', 'begin_tool_arguments'].map(plamoMarker),
      '<|plamo:constrain|>json<|plamo:msg|>',
    ].join(''),
  end: plamoMarker('end_tool_arguments') + plamoMarker('end_tool_request'),
  separator: '',
  trigger: plamoMarker('begin_tool_requests'),
};

const minimaxM3: CallSpelling = {
  section: [`${MINIMAX}<tool_call>\n`, `${MINIMAX}</tool_call>`],
  begin: (name) => `${MINIMAX}<invoke name="${name}">`,
  content: (schema, name) =>
    namesParameters(schema)
      ? sequence(nestedObject(minimaxValues, schema, name), literal('</invoke>'))
      : textBetween('', `${MINIMAX}</invoke>`),
  end: '\n',
  separator: '',
  trigger: `${MINIMAX}<tool_call>`,
};

const gemma4: CallSpelling = {
  begin: (name) => `<|tool_call>call:${name}`,
  content: (schema, name) =>
    namesParameters(schema) ? nestedObject(gemmaValues, schema, name) : gemmaValues.anyObject,
  end: '<tool_call|>',
  separator: '',
  trigger: '<|tool_call>',
  thought: ['<|channel>thought\n', '<channel|>'],
};

const horizonSection = {
  section: ['<ifm|tool_calls>\n', '\n</ifm|tool_calls>'],
  separator: '\n',
  trigger: '<ifm|tool_calls>',
} as const;

function horizonPairs(typeTag: (type: SchemaType) => string): CallSpelling {
  return {
    ...horizonSection,
    begin: (name) => `<ifm|tool_call>${name}\n`,
    content: taggedParameters({
      open: (key, type) => [`<ifm|arg_key>${key}</ifm|arg_key>${typeTag(type)}<ifm|arg_value>`],
      close: '</ifm|arg_value>',
      joint: '\n',
    }),
    end: '</ifm|tool_call>',
  };
}

/** The request chooses the dialect. */
const horizonDialects: Readonly<Record<string, CallSpelling>> = {
  xml: horizonPairs(() => ''),
  xml_typed: horizonPairs((type) => `<ifm|arg_type>${type}</ifm|arg_type>`),
  json: {
    ...horizonSection,
    begin: (name) => `<ifm|tool_call>\n{"name": ${quoted(name)}, "arguments": `,
    end: '}\n</ifm|tool_call>',
  },
};

type Variables = Readonly<Record<string, unknown>>;

function horizon({tool_call_format: dialect}: Variables): CallSpelling {
  return (typeof dialect === 'string' && horizonDialects[dialect]) || horizonDialects.xml!;
}

const callSpellings: Readonly<Record<string, readonly CallSpelling[]>> = {
  hermes: [hermes],
  longcat: [jsonInTags('longcat_tool_call')],
  llama3_json: [llamaObject],
  qwen3_coder: [functionTags('\n')],
  step3p5: [functionTags('\n')],
  step5: [functionTags('\n')],
  mimo: [functionTags('')],
  glm45: [argumentPairs],
  poolside_v1: [argumentPairs],
  hy_v4: [hunyuanPairs],
  minimax_m2: [invokes('minimax:tool_call', plainParameter)],
  minimax_m3: [minimaxM3],
  dots: [invokes('dots_function_call', plainParameter)],
  deepseek_v3: [deepseekV3],
  deepseek_v31: [deepseekV31],
  deepseek_v32: [dsmlInvokes('function_calls')],
  deepseek_v4: [dsmlInvokes('tool_calls')],
  deepseek_v41: [dsmlInvokes('calls', ' ')],
  kimi_k2: [kimiK2],
  kimi_k3: [kimiK3],
  mistral: [mistralSlots, mistralArray],
  openai: [harmony],
  inkling: [inkling],
  cohere_command3: [cohere],
  cohere_command4: [cohere],
  plamo3: [plamo3],
  gemma4: [gemma4],
};

/** The ways in which a format may spell calls; none when it cannot be held to any. @param variables of the template */
export function spellingsOf(firstName: string, variables: Variables): readonly CallSpelling[] {
  if (firstName === 'k2_horizon') return [horizon(variables)];
  return Object.hasOwn(callSpellings, firstName) ? callSpellings[firstName]! : [];
}
