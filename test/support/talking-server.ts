/** A server for chats: what it answers depends on the question, so that a test reads like a talk. */
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text as readStream} from 'node:stream/consumers';
import {setTimeout as delay} from 'node:timers/promises';

export interface TalkingServer {
  url: string;
  /** Requests whose client left before the end. */
  numClosedEarly(): number;
  close(): void;
}

type Send = (delta: object, finishReason?: string) => void;

interface Talk {
  /** What was asked, without its first word. */
  rest: string;
  send: Send;
  response: ServerResponse;
  hasResult: boolean;
}

const burstMs = 10;

/** By the first word of the question; what is not here is counted. */
const answers: Readonly<Record<string, (talk: Talk) => Promise<void> | void>> = {
  /** `long 60` */
  async long({rest, send, response}) {
    for (let line = 0; line < Number(rest) && !response.destroyed; line++) {
      send({content: `answer line ${line} 漢字 😀\n${line % 5 === 4 ? '\n' : ''}`});
      await delay(10);
    }
  },
  /** `fast 6000 2000`: so many tokens at so many per second. */
  async fast({rest, send, response}) {
    const [numTokens = 0, perSecond = 0] = rest.split(' ').map(Number);
    const startMs = performance.now();
    for (let sent = 0; sent < numTokens && !response.destroyed; await delay(burstMs)) {
      const due = Math.min(numTokens, Math.floor(((performance.now() - startMs) * perSecond) / 1000));
      for (; sent < due; sent++) send({content: tokenText(sent)});
    }
  },
  /** `prose 3000 500`: words as `fast` sends them, in paragraphs of 150 without line breaks and with bold ones. */
  async prose({rest, send, response}) {
    const [numWords = 0, perSecond = 0] = rest.split(' ').map(Number);
    const startMs = performance.now();
    for (let sent = 0; sent < numWords && !response.destroyed; await delay(burstMs)) {
      const due = Math.min(numWords, Math.floor(((performance.now() - startMs) * perSecond) / 1000));
      for (; sent < due; sent++) send({content: proseWord(sent)});
    }
  },
  /** `whole 2000`: so many lines of a hundred characters in one piece. */
  whole({rest, send}) {
    const lines = Array.from({length: Number(rest)}, (_, line) => `whole line ${line} `.padEnd(99, 'w '));
    send({content: `${lines.join('\n')}\n\n`});
  },
  /** `think 40`: so many pieces of a thought, ten milliseconds apart. */
  async think({rest, send, response}) {
    for (let piece = 0; piece < Number(rest) && !response.destroyed; piece++) {
      send({reasoning: `thought number ${piece}, `});
      await delay(10);
    }
  },
  /** `call calculator {"expression":"1+2"}`, and then the result in words. */
  call({rest, send, hasResult}) {
    if (hasResult) return;
    const [, name, text] = /^(\S+) (.*)$/.exec(rest)!;
    send({tool_calls: [{index: 0, id: 'call_1', function: {name, arguments: text}}]});
  },
};

/** Lines of twelve words, paragraphs of five lines. */
function tokenText(index: number): string {
  if (index % 60 === 59) return `word${index}\n\n`;
  return `word${index}${index % 12 === 11 ? '\n' : ' '}`;
}

/** The word at this place of the answer to `prose`, with the blank or the gap behind it. */
export function proseWord(index: number): string {
  const word = index % 20 === 7 ? `**bold${index}` : index % 20 === 9 ? `bold${index}**` : `word${index}`;
  return word + (index % 150 === 149 ? '\n\n' : ' ');
}

export async function startTalkingServer(): Promise<TalkingServer> {
  let numClosedEarly = 0;
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) numClosedEarly++;
    });
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    numClosedEarly: () => numClosedEarly,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/v1/models') return void response.end('{"data":[{"id":"scripted","max_model_len":4096}]}');
  const {messages} = JSON.parse(await readStream(request)) as {messages: {role: string; content: string}[]};
  const question = messages.findLast(({role}) => role === 'user')!.content;
  const last = messages.at(-1)!;
  response.setHeader('content-type', 'text/event-stream');
  const send: Send = (delta, finish_reason) =>
    response.write(`data: ${JSON.stringify({choices: [{index: 0, delta, finish_reason: finish_reason ?? null}]})}\n\n`);
  if (question === 'boom') {
    send({content: 'two tokens'});
    return void response.end('data: {"error":{"message":"boom"}}\n\ndata: [DONE]\n\n');
  }
  const hasResult = last.role === 'tool';
  const [first = ''] = question.split(' ');
  await answers[first]?.({rest: question.slice(first.length + 1), send, response, hasResult});
  if (first === 'call' && !hasResult) send({}, 'tool_calls');
  else if (hasResult) send({content: `The tool said ${last.content}.`}, 'stop');
  else send({content: `You sent ${question.length} characters.`}, 'stop');
  response.end('data: [DONE]\n\n');
}
