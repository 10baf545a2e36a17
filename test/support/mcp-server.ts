/**
 * An MCP server on stdin and stdout with tools that behave well and badly: JSON-RPC by hand, a line for each message. Runs
 * as a program: `node --import tsx test/support/mcp-server.ts [mute]`.
 */
import {createInterface} from 'node:readline';

interface Message {
  id?: number;
  method?: string;
  params?: {protocolVersion?: string; name?: string; arguments?: {text?: string}; _meta?: {progressToken?: unknown}};
}

type Content = {type: string; text?: string; mimeType?: string; data?: string; resource?: object}[];

const schema = {type: 'object', properties: {text: {type: 'string'}}};

const tools: Readonly<Record<string, (text: string, message: Message) => object | null>> = {
  echo: (text) => ok([{type: 'text', text: `echo ${text}`}]),
  fails: (text) => ({...ok([{type: 'text', text: `cannot ${text}`}]), isError: true}),
  huge: () => ok([{type: 'text', text: 'x'.repeat(1_000_000)}]),
  mixed: () =>
    ok([
      {type: 'image', mimeType: 'image/png', data: 'AAAA'},
      {type: 'resource', resource: {uri: 'file:///notes', text: 'inside'}},
    ]),
  hangs(_text, {params}) {
    const progressToken = params?._meta?.progressToken;
    send({method: 'notifications/progress', params: {progressToken, progress: 1, total: 3, message: 'first part'}});
    return null;
  },
  dies: () => process.exit(1),
};

function ok(content: Content): object {
  return {content};
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({jsonrpc: '2.0', ...message})}\n`);
}

function resultOf(message: Message): object | null {
  const {method, params = {}} = message;
  if (method === 'initialize') {
    const {protocolVersion} = params;
    return {protocolVersion, capabilities: {tools: {}}, serverInfo: {name: 'test', version: '1'}};
  }
  if (method === 'tools/list') {
    return {tools: Object.keys(tools).map((name) => ({name, description: `It ${name}`, inputSchema: schema}))};
  }
  if (method === 'tools/call') return tools[params.name!]!(params.arguments?.text ?? '', message);
  return {};
}

if (process.argv[2] !== 'mute') {
  createInterface({input: process.stdin}).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    const result = resultOf(message);
    if (result !== null) send({id: message.id, result});
  });
} else process.stdin.resume();
