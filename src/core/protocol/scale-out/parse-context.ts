/**
 * `parse_context` of the token routes: what the server that rendered a chat request tells the one that reads its answer
 * (vllm/entrypoints/scale_out/token_in_token_out/protocol.py).
 */
import {toolChoiceSchema, toolSchema} from '../openai/chat-completion.ts';
import {laxBool, laxDict, laxInt, laxList, laxObject, nullable, orDefault} from '../openai/lax-types.ts';
import {parseWithSchema} from '../openai/schema-errors.ts';

const parseContextSchema = laxObject({
  tools: nullable(laxList(toolSchema)),
  tool_choice: toolChoiceSchema.nullable().default('none'),
  parallel_tool_calls: orDefault(laxBool(), true),
  include_reasoning: orDefault(laxBool(), true),
  chat_template_kwargs: orDefault(laxDict(), {}),
  history_tool_call_cnt: orDefault(laxInt(), 0),
});

/** How the answer is to be read. @throws SchemaError */
export function readParseContext(context: Record<string, unknown>) {
  const {history_tool_call_cnt, chat_template_kwargs, ...fields} = parseWithSchema(parseContextSchema, context);
  return {
    ...fields,
    templateKwargs: chat_template_kwargs,
    numEarlierToolCalls: history_tool_call_cnt,
    stop_spares_reasoning: null,
    stream: false,
  };
}
