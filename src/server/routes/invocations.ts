/**
 * `POST /invocations`: the body decides which endpoint answers, chat before completions
 * (vllm/entrypoints/sagemaker/api_router.py).
 */
import type {FastifyRequest} from 'fastify';
import {SchemaError, ValidationError} from '../../core/errors.ts';
import {JsonSyntaxError, parseJson} from '../../core/util/parse-json.ts';
import {type Answer, type GenerationEndpoint, refuseWhenStopping} from '../generation-endpoint.ts';
import {checkMediaType, decodeUtf8} from '../read-body.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';
import {createChatEndpoint} from './chat-completions.ts';
import {createCompletionEndpoint} from './completions.ts';

/** In the order in which they are tried. */
const ENDPOINTS: {requestName: string; create: (context: ServerContext) => GenerationEndpoint}[] = [
  {requestName: 'ChatCompletionRequest', create: createChatEndpoint},
  {requestName: 'CompletionRequest', create: createCompletionEndpoint},
];

export function registerInvocations(routes: RouteTable, context: ServerContext): void {
  const endpoints = ENDPOINTS.map(({create}) => create(context));
  routes.add('POST', '/invocations', (request, reply) => {
    refuseWhenStopping(context);
    return findAnswer(endpoints, request)(reply);
  });
}

function findAnswer(endpoints: readonly GenerationEndpoint[], request: FastifyRequest): Answer {
  const body = readBody(request);
  for (const endpoint of endpoints) {
    const answer = openOrNull(endpoint, body, request);
    if (answer) return answer;
  }
  const names = ENDPOINTS.map(({requestName}) => `'${requestName}'`).join(', ');
  throw new ValidationError(`Cannot find suitable handler for request. Expected one of: (${names})`);
}

/** Null when the body is of another kind; a fault across fields is one of this kind. */
function openOrNull(endpoint: GenerationEndpoint, body: unknown, request: FastifyRequest): Answer | null {
  try {
    return endpoint.open(body, request);
  } catch (error) {
    if (error instanceof SchemaError) return null;
    throw error;
  }
}

/** Malformed JSON has an error of its own here, and an empty body is one. */
function readBody(request: FastifyRequest): unknown {
  checkMediaType(request.clientContentType);
  const text = decodeUtf8((request.body as Buffer | undefined) ?? new Uint8Array());
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new SchemaError(`JSON decode error: ${error.message}: ${placeOf(text, error.position)}`, {
      showsParameter: false,
    });
  }
}

/** As Python's reader tells it. */
function placeOf(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n');
  return `line ${lines.length} column ${lines.at(-1)!.length + 1} (char ${position})`;
}
