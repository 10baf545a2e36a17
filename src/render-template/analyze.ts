/**
 * `--analyze`: what a template can do, found by rendering small conversations and looking at what comes out. The words of
 * a probe are ones that no template contains.
 */
import {sourceText} from '../core/model/prompt-parts.ts';
import {detectFormats} from '../core/parsers/detect-formats.ts';
import {type ChatCompletionRequest, parseChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import type {PromptRenderer} from './render-prompt-text.ts';

export type Finding = boolean | string | null;

interface Probe {
  messages: unknown[];
  tools?: unknown[];
  addGenerationPrompt?: boolean;
}

/** What a Harmony prompt is made of, which has no template. */
const harmonyMarks = '<|channel|>analysis<|message|>';

const word = 'qzprobe';
const user = {role: 'user', content: 'Hello.'};
const tool = (name: string) => ({
  type: 'function',
  function: {name, description: 'A tool.', parameters: {type: 'object', properties: {}}},
});
const call = (name: string, id: string) => ({id, type: 'function', function: {name, arguments: '{}'}});
const tools = [tool(`${word}a`), tool(`${word}b`)];
const calls = (...names: string[]) => ({
  role: 'assistant',
  content: '',
  tool_calls: names.map((name, index) => call(name, `call00000${index}`)),
});
const results = (...texts: string[]) =>
  texts.map((content, index) => ({role: 'tool', tool_call_id: `call00000${index}`, name: `${word}a`, content}));

const thought = {role: 'assistant', content: 'Hi.', reasoning: word};

/** @returns what was found, by the words that a person reads; null = the template has no such thing */
export async function analyze(renderer: PromptRenderer): Promise<Record<string, Finding>> {
  const prompt = (probe: Probe) => render(renderer, probe);
  const shows = async (probe: Probe, ...words: string[]) => {
    const text = await prompt(probe);
    return text !== null && words.every((each) => text.includes(each));
  };
  const asked = await prompt({messages: [user]});
  const closed = await prompt({messages: [user], addGenerationPrompt: false});
  const opened = asked !== null && closed !== null && asked.startsWith(closed) ? asked.slice(closed.length) : null;
  const source = renderer.template?.source ?? harmonyMarks;
  const {tool: toolFormat, reasoning} = detectFormats(source);
  return {
    'system messages': await shows({messages: [{role: 'system', content: word}, user]}, word),
    'generation prompt': opened || null,
    'opens a thought': opened !== null && /<[a-z_|]*think[a-z_|]*>\s*$/i.test(opened),
    'users may follow one another': (await prompt({messages: [user, user]})) !== null,
    tools: await shows({messages: [user], tools}, `${word}a`, `${word}b`),
    'tool calls': await shows({messages: [user, calls(`${word}c`)], tools}, `${word}c`),
    'several calls at once': await shows(
      {messages: [user, calls(`${word}c`, `${word}d`)], tools},
      `${word}c`,
      `${word}d`,
    ),
    'tool results': await shows({messages: [user, calls(`${word}a`), ...results('qzresult')], tools}, 'qzresult'),
    'reasoning of the last answer': await shows({messages: [user, thought], addGenerationPrompt: false}, word),
    'reasoning of earlier answers': await shows({messages: [user, thought, user]}, word),
    'generation blocks': /\{%-?\+?\s*generation\s*[-+]?%\}/.test(source),
    '--tool-call-parser': toolFormat,
    '--reasoning-parser': reasoning,
  };
}

/** @returns null when the template refuses the conversation */
async function render(renderer: PromptRenderer, probe: Probe): Promise<string | null> {
  try {
    return sourceText(await renderer.render(requestOf(probe)));
  } catch {
    return null;
  }
}

function requestOf({messages, tools: given, addGenerationPrompt = true}: Probe): ChatCompletionRequest {
  return parseChatCompletionRequest({
    messages,
    add_generation_prompt: addGenerationPrompt,
    ...(given === undefined ? {} : {tools: given}),
  });
}

/** Two columns. */
export function analysisRows(findings: Readonly<Record<string, Finding>>): string[][] {
  return Object.entries(findings).map(([name, finding]) => [name, shownFinding(finding)]);
}

function shownFinding(finding: Finding): string {
  if (typeof finding === 'boolean') return finding ? 'yes' : 'no';
  return finding === null ? 'none' : finding.replaceAll('\n', '⏎');
}
