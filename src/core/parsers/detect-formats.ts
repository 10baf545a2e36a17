/**
 * Which formats a model writes, from what its chat template says: a template shows earlier calls and thoughts in the form
 * in which the model writes new ones. A table of signs, the first row that fits wins, so special forms stand first.
 */

export interface DetectedFormats {
  /** Registered names; null when nothing known is found. */
  tool: string | null;
  reasoning: string | null;
}

/** A format and the texts that a template must all hold. */
type Sign = readonly [format: string, ...texts: string[]];

const TOOL_SIGNS: readonly Sign[] = [
  ['openai', '<|channel|>', '<|message|>'],
  ['kimi_k3', '<|open|>', '<|sep|>'],
  ['kimi_k2', '<|tool_calls_section_begin|>'],
  ['deepseek_v41', '<｜DSML｜ calls>'],
  ['deepseek_v32', '｜DSML｜', 'function_calls'],
  ['deepseek_v4', '｜DSML｜'],
  ['step3', '<steptml:invoke'],
  ['deepseek_v3', '<｜tool▁calls▁begin｜>', '```json'],
  ['deepseek_v31', '<｜tool▁calls▁begin｜>'],
  ['minimax_m3', ']<]minimax[>['],
  ['minimax_m2', '<minimax:tool_call>'],
  ['seed_oss', '<seed:tool_call>'],
  ['k2_horizon', '<ifm|tool_calls>'],
  ['muse', '<atem:function_calls>'],
  ['dots', '<dots_function_call>'],
  ['longcat', '<longcat_tool_call>'],
  ['plamo3', 'plamo:begin_tool_request'],
  ['cohere_command4', '<|START_ACTION|>', '<|START_TEXT|>'],
  ['cohere_command3', '<|START_ACTION|>'],
  ['inkling', '<|content_invoke_tool_json|>'],
  ['apertus', '<|tools_prefix|>'],
  ['gemma4', '<|tool_call>'],
  ['functiongemma', '<start_function_call>'],
  ['lfm2', '<|tool_call_start|>['],
  ['internlm', '<|action_start|>', '<|plugin|>'],
  ['gigachat3', '<|message_sep|>', 'function call'],
  ['phi4_mini_json', 'functools['],
  ['mistral', '[TOOL_CALLS]'],
  ['hy_v3', '<tool_calls>', '<tool_sep>'],
  ['hy_v4', '<tool_calls>', '<arg_key>'],
  ['glm47', '<tool_call>', '<arg_key>'],
  ['qwen3_coder', '<tool_call>', '<function=', '<parameter='],
  ['minicpm5', '<function name=', '<param name='],
  ['olmo3', '<function_calls>'],
  ['jamba', '<tool_calls>[', '"arguments"'],
  ['granite', '<|tool_call|>'],
  ['granite-20b-fc', '<function_call>'],
  ['granite4', '<tool_call>', '<|start_of_role|>'],
  ['hermes', '<tool_call>'],
  ['llama4_pythonic', '<|python_start|>'],
  ['llama4_pythonic', '<|header_start|>', '[func_name1('],
  ['pythonic', '[func_name1('],
  ['llama4_json', '<|header_start|>', '"parameters"'],
  ['llama3_json', '<|start_header_id|>', '"parameters"'],
];

const REASONING_SIGNS: readonly Sign[] = [
  ['openai_gptoss', '<|channel|>', '<|message|>'],
  ['kimi_k3', '<|open|>', '<|sep|>'],
  ['gemma4', '<|channel>'],
  ['inkling', '<|content_thinking|>'],
  ['plamo3', 'plamo:begin_think'],
  ['k2_horizon', '<ifm|think'],
  ['muse', '<atem:function_calls>'],
  ['cohere_command4', '<|START_THINKING|>', '<|START_TEXT|>'],
  ['cohere_command3', '<|START_THINKING|>'],
  ['minimax_m3', '<mm:think>'],
  ['minimax_m2', '<minimax:tool_call>'],
  ['seed_oss', '<seed:think>'],
  ['mistral', '[THINK]'],
  ['granite', 'Here is my thought process:'],
  ['deepseek_v41', '<｜DSML｜ calls>'],
  ['deepseek_v3', '｜DSML｜', 'function_calls', '<think>'],
  ['deepseek_v4', '｜DSML｜', '<think>'],
  ['kimi_k2', '<|tool_calls_section_begin|>', '<think>'],
  ['step3', '<steptml:invoke'],
  ['deepseek_v3', '<｜tool▁calls▁begin｜>', 'thinking is defined'],
  ['hy_v4', '<tool_calls>', '<arg_key>', '<think>'],
  ['glm45', '<arg_key>', '<think>'],
  ['deepseek_v3', '<think>', '<response>', 'thinking'],
  ['hunyuan_a13b', '<answer>', '<think>'],
  ['qwen3', '<think>', 'enable_thinking'],
  ['qwen3', '<think>', '<tool_call>'],
  ['deepseek_r1', '<think>'],
  ['deepseek_r1', '</think>'],
];

export function detectFormats(template: string): DetectedFormats {
  return {tool: firstFit(TOOL_SIGNS, template), reasoning: firstFit(REASONING_SIGNS, template)};
}

function firstFit(signs: readonly Sign[], template: string): string | null {
  const sign = signs.find(([, ...texts]) => texts.every((text) => holds(template, text)));
  return sign?.[0] ?? null;
}

/** Templates write some texts as literals of their language. */
function holds(template: string, text: string): boolean {
  return template.includes(text) || template.includes(text.replaceAll('"', '\\"'));
}
