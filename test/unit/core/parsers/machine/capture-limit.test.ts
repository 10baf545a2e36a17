/** Text that is too long for what is being captured is given up at the same character, however the answer was cut. */
import {expect, it} from 'vitest';
import {builtInFormats} from '../../../../../src/core/parsers/built-in-formats.ts';
import {asFormats, foldParse} from '../../../../support/parser-fuzz.ts';

const LONG = 'a long header, and '.repeat(20);

const outputs: Readonly<Record<string, string>> = {
  hy_v3: `<tool_calls:${LONG}<tool_calls><tool_call>f</tool_call></tool_calls>`,
  openai: `<|channel|>${LONG}<|channel|>final<|message|>Hi`,
  muse: ` to=user ${LONG}<|start|>assistant to=user<|message|>Hi`,
  mistral: `[TOOL_CALLS]${LONG.repeat(20)}[TOOL_CALLS]f[ARGS]{}`,
};

function formatNamed(name: string) {
  const found = builtInFormats.find(({kind, names}) => kind === 'tool' && names.includes(name));
  if (found === undefined) throw new Error(`no format ${name}`);
  return asFormats(found);
}

it.each(Object.entries(outputs))('%s', (name, output) => {
  const formats = formatNamed(name);
  const whole = foldParse(formats, [output]);
  expect(foldParse(formats, [...output])).toEqual(whole);
  for (let at = 1; at < output.length; at += 7) {
    expect(foldParse(formats, [output.slice(0, at), output.slice(at)])).toEqual(whole);
  }
});
