/**
 * Templates for outputs of `hf` and `beam` that come without the metadata of their checkpoint: ChatML with JSON calls, and
 * calls that name the function in the opener beside an answer in tags of its own.
 */

const START = '<|im_start|>assistant\n';
const thinking = {open: '<think>', close: '</think>'};

const chatMl = {
  start_anchor: START,
  fields: {
    thinking,
    tool_calls: {
      open: '<tool_call>',
      close: '</tool_call>',
      content: 'json',
      repeats: true,
      transform: {type: 'function', function: '{content}'},
    },
    content: {close: '<|im_end|>'},
  },
};

const namedCalls = {
  start_anchor: START,
  fields: {
    thinking,
    tool_calls: {
      open_pattern: '<call:(?P<name>[^>]+)>',
      close: '</call>',
      content: 'xml-inline',
      content_args: {
        tag_pattern: '<arg=(?P<key>[^>]+)>(?P<value>.*?)</arg>',
        value_parser: {name: 'text', args: {strip: false}},
      },
      repeats: true,
      transform: {type: 'function', function: {name: '{name}', arguments: '{content}'}},
    },
    content: {open: '<answer>', close: '</answer>'},
  },
};

/** For the named formats; undefined when neither needs one. */
export function sampleTemplate(...names: readonly (string | null | undefined)[]): unknown {
  if (names.includes('hf')) return chatMl;
  return names.includes('beam') ? namedCalls : undefined;
}
