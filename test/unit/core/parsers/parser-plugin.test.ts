/** Parser plugins as users write them: the example of the documentation works, and mistakes are named. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {loadParserPlugin} from '../../../../src/core/parsers/parser-plugin.ts';
import {ParserRegistry} from '../../../../src/core/parsers/registry.ts';
import {foldParse} from '../../../support/parser-fuzz.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const docs = readFileSync(join(import.meta.dirname, '../../../../docs/plugins.md'), 'utf8');
const documented = /```js\n(\/\/ brackets\.mjs[\s\S]*?)```/.exec(docs)?.[1] ?? '';

const folderWith = (text: string) => createTemporaryFolder({'plugin.mjs': text});

describe('a parser plugin', () => {
  it('of the documentation reads thoughts and calls, in single characters', async () => {
    const registry = new ParserRegistry();
    for (const format of await loadParserPlugin('--tool-parser-plugin', 'plugin.mjs', await folderWith(documented)))
      registry.add(format);
    const formats = {tool: registry.toolFormat('brackets'), reasoning: registry.reasoningFormat('stars')};
    const output = '(* hm *)Yes.<<{"tool": "f", "args": {"city": ">>"}}>> Done.';
    expect(foldParse(formats, [...output])).toEqual({
      reasoning: ' hm',
      content: 'Yes. Done.',
      toolCalls: [{id: 'chatcmpl-tool-0000000000000000', name: 'f', argumentsText: '{"city": ">>"}'}],
    });
  });

  it.each([
    ['export default 3;', 'makes no format definitions'],
    ['export default () => [{kind: "tool", names: []}];', 'makes no format definitions'],
    ['throw new Error("no luck");', 'cannot be loaded: no luck'],
  ])('%s is refused', async (text, message) => {
    await expect(loadParserPlugin('--tool-parser-plugin', 'plugin.mjs', await folderWith(text))).rejects.toThrow(
      message,
    );
  });

  it('that is not there is named', async () => {
    await expect(loadParserPlugin('--reasoning-parser-plugin', 'none.mjs', '/')).rejects.toThrow(
      '--reasoning-parser-plugin none.mjs: there is no such file',
    );
  });
});
