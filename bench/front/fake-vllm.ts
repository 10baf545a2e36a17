/**
 * A vLLM deployment without a model, in a process of its own: every stream gets one token in each step, all of them in
 * the same step, as an engine makes them, once as many streams are open as are expected. Chunks have the form of the
 * recorded traffic. Arguments: milliseconds of a step, number of streams.
 */
import {createServer, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text as readText} from 'node:stream/consumers';
import {resolveModel} from '../../src/core/model/resolve-model.ts';
import {loadTokenizer} from '../../src/core/model/tokenizer.ts';

interface Stream {
  response: ServerResponse;
  numLeft: number;
}

const [stepMs, numStreams] = process.argv.slice(2).map(Number) as [number, number];
const tokenizer = await loadTokenizer(await resolveModel(null));
/** Words of a text, so that the detokenizer has usual work. */
const textIds = await tokenizer.encode(
  'The lighthouse keeper walked slowly down the narrow stairs, counting every step as he had done for thirty years. ',
  {addSpecialTokens: false},
);
const streams = new Set<Stream>();

const server = createServer(async (request, response) => {
  const body = JSON.parse((await readText(request)) || '{}');
  if (request.url === '/inference/v1/generate') return generate(body, response);
  const answers: Record<string, () => object | Promise<object>> = {
    '/v1/models': () => ({data: [{id: 'fake', parent: null, max_model_len: 2048}]}),
    '/version': () => ({version: '0.33.0'}),
    '/tokenize': async () => ({tokens: await tokenizer.encode(body.prompt, {addSpecialTokens: true})}),
    '/health': () => ({}),
  };
  const answer = answers[request.url ?? ''];
  response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify((await answer?.()) ?? {}));
});

function generate(
  {
    request_id,
    token_ids,
    sampling_params,
  }: {request_id?: string; token_ids: number[]; sampling_params: {max_tokens: number}},
  response: ServerResponse,
): void {
  if (request_id === undefined) {
    const status = token_ids[0]! < tokenizer.vocabSize ? 200 : 400;
    return void response.writeHead(status).end(JSON.stringify({choices: [{token_ids: [0]}]}));
  }
  response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
  response.flushHeaders();
  const stream = {response, numLeft: sampling_params.max_tokens};
  streams.add(stream);
  response.once('close', () => streams.delete(stream));
}

/** Requests and tokens are not mixed: nobody gets a token until everybody is there, or while some have had theirs. */
let isRunning = false;

function step(): void {
  isRunning = streams.size > 0 && (isRunning || streams.size === numStreams);
  if (!isRunning) return;
  for (const stream of streams) {
    const {response} = stream;
    const isLast = --stream.numLeft === 0;
    response.write(`data: ${chunk(stream.numLeft, isLast ? 'length' : null)}\n\n`);
    if (!isLast) continue;
    streams.delete(stream);
    response.end('data: [DONE]\n\n');
  }
}

function chunk(place: number, finishReason: string | null): string {
  const weightVersions = finishReason && [{version: 'default', start: 0, end: 1}];
  return JSON.stringify({
    request_id: 'generate-tokens-9b0e7f48a6cbe15d',
    usage: null,
    output_mode: 'tokens',
    choices: [
      {
        index: 0,
        finish_reason: finishReason,
        stop_reason: null,
        token_ids: [textIds[place % textIds.length]],
        routed_experts: null,
        sampling_mask: null,
        weight_versions: weightVersions,
        logprobs: null,
      },
    ],
  });
}

setInterval(step, stepMs);
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
