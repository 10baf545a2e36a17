/**
 * Special tokens in recorded outputs that a format looks for must count as its markers: on a server all other special
 * tokens are left out of the text.
 */
import {describe, expect, it} from 'vitest';
import {isPartOfMarker, markersOf} from '../../src/core/parsers/format-markers.ts';
import {parserContext} from '../../src/core/parsers/output-parser.ts';
import {ParserRegistry} from '../../src/core/parsers/registry.ts';
import {isKnown, parseLine, type RecordedLine} from '../support/parser-adapter.ts';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';

type Line = RecordedLine & {special_tokens: string[]; skip_special_tokens: boolean};

const registry = new ParserRegistry();

/** The output without the special tokens that are no markers. */
function shown(line: Line): string {
  const tools = (line.tools ?? []).map((tool) => tool.function);
  const context = parserContext({
    tools,
    chatTemplateKwargs: line.chat_template_kwargs ?? {},
    responseTemplate: line.response_template,
  });
  const markers = markersOf({tool: registry.toolFormat(line.parser)}, context);
  const hidden = line.special_tokens.filter((token) => !isPartOfMarker(token, markers));
  return hidden.reduce((text, token) => text.replaceAll(token, ''), line.output);
}

const lines = (hasSharedData ? readGoldenLines<Line>('tool-parsers.jsonl') : []).filter(
  (line) =>
    isKnown('tool', line) &&
    !line.skip_special_tokens &&
    line.literal_marker !== true &&
    line.name.endsWith('#one') &&
    (line.tool_choice ?? 'auto') === 'auto',
);

describe.skipIf(!hasSharedData)('outputs without the special tokens that are no markers', () => {
  const names = [...new Set(lines.map(({parser}) => parser))];

  it.each(names)('%s has the same calls', (parser) => {
    const changed = lines
      .filter((line) => line.parser === parser && shown(line) !== line.output)
      .filter((line) => {
        const calls = (output: string) => parseLine({...line, output}, null).tool_calls;
        return JSON.stringify(calls(shown(line))) !== JSON.stringify(calls(line.output));
      });
    expect(changed.map(({name}) => name)).toEqual([]);
  });
});
