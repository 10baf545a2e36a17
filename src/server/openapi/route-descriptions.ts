/** What each route takes and answers, as data: the part of the API description that is not a schema. */
import type {AnswerName, RequestName} from './schema-table.ts';

export interface RouteDescription {
  summary: string;
  tag: 'Generation' | 'Models' | 'Tokens' | 'Scale-out' | 'Operation' | 'Description';
  /** Several = one of them. */
  request?: RequestName[];
  /** The JSON of status 200; null = an empty body; a media type for another kind of text. */
  answer: AnswerName | null | {mediaType: string};
  /** What an event of a stream holds besides errors, for routes that stream. */
  chunk?: AnswerName;
  /** Further statuses in the error shape. */
  errors?: number[];
  /** Further statuses with an empty body. */
  emptyErrors?: number[];
}

/** Statuses of every route that reads a body with a model name. */
const BODY_ERRORS = [400, 404, 500, 501];
const GENERATION_ERRORS = [...BODY_ERRORS, 503];
const SCALE_OUT_ERRORS = [...BODY_ERRORS, 403];

const health: RouteDescription = {
  summary: 'Is the engine alive? The body is empty',
  tag: 'Operation',
  answer: null,
  emptyErrors: [503],
};

const later: RouteDescription = {
  summary: 'Not served yet',
  tag: 'Scale-out',
  answer: 'AnyObject',
  errors: [403, 501],
};

/** By method and path. */
export const ROUTE_DESCRIPTIONS: Readonly<Record<string, RouteDescription>> = {
  'POST /v1/chat/completions': {
    summary: 'Answer a conversation, whole or as a stream',
    tag: 'Generation',
    request: ['ChatCompletionRequest'],
    answer: 'ChatCompletionResponse',
    chunk: 'ChatCompletionStreamResponse',
    errors: GENERATION_ERRORS,
  },
  'POST /v1/chat/completions/batch': {
    summary: 'Answer several conversations at once, one choice each',
    tag: 'Generation',
    request: ['BatchChatCompletionRequest'],
    answer: 'ChatCompletionResponse',
    errors: GENERATION_ERRORS,
  },
  'POST /v1/completions': {
    summary: 'Continue texts or token ids, whole or as a stream',
    tag: 'Generation',
    request: ['CompletionRequest'],
    answer: 'CompletionResponse',
    chunk: 'CompletionStreamResponse',
    errors: GENERATION_ERRORS,
  },
  'POST /invocations': {
    summary: 'A chat or completion request, told apart by its body',
    tag: 'Generation',
    request: ['ChatCompletionRequest', 'CompletionRequest'],
    answer: 'AnyObject',
    errors: GENERATION_ERRORS,
  },
  'POST /v1/decisions': {
    summary: 'Questions about labels; no served model can answer them',
    tag: 'Generation',
    request: ['DecisionsRequest'],
    answer: 'AnyObject',
    errors: [400, 501],
  },
  'POST /v1/systemone': {
    summary: 'Structured decisions; no served model can answer them',
    tag: 'Generation',
    request: ['SystemOneRequest'],
    answer: 'AnyObject',
    errors: [400, 501],
  },
  'GET /v1/models': {summary: 'The served names of the model', tag: 'Models', answer: 'ModelList'},
  'POST /tokenize': {
    summary: 'Token ids of a text or a conversation',
    tag: 'Tokens',
    request: ['TokenizeCompletionRequest', 'TokenizeChatRequest'],
    answer: 'TokenizeResponse',
    errors: BODY_ERRORS,
  },
  'POST /detokenize': {
    summary: 'The text of token ids',
    tag: 'Tokens',
    request: ['DetokenizeRequest'],
    answer: 'DetokenizeResponse',
    errors: BODY_ERRORS,
  },
  'GET /tokenizer_info': {summary: 'Configuration of the tokenizer', tag: 'Tokens', answer: 'AnyObject'},
  'POST /v1/chat/completions/render': {
    summary: 'What a chat request would give the engine',
    tag: 'Scale-out',
    request: ['ChatCompletionRequest'],
    answer: 'RenderedRequest',
    errors: SCALE_OUT_ERRORS,
  },
  'POST /v1/completions/render': {
    summary: 'What a completion request would give the engine, for each prompt',
    tag: 'Scale-out',
    request: ['CompletionRequest'],
    answer: 'RenderedRequests',
    errors: SCALE_OUT_ERRORS,
  },
  'POST /inference/v1/generate': {
    summary: 'Token ids in, token ids out',
    tag: 'Scale-out',
    request: ['GenerateRequest'],
    answer: 'GenerateResponse',
    chunk: 'AnyObject',
    errors: [...SCALE_OUT_ERRORS, 503],
  },
  'POST /inference/v1/abort_requests': {
    summary: 'End running requests with what they have',
    tag: 'Scale-out',
    request: ['AbortRequestsRequest'],
    answer: null,
    errors: SCALE_OUT_ERRORS,
  },
  'POST /abort_requests': {
    summary: 'End running requests with what they have',
    tag: 'Scale-out',
    request: ['AbortRequestsRequest'],
    answer: null,
    errors: SCALE_OUT_ERRORS,
  },
  'POST /v1/messages/render': later,
  'POST /v1/responses/render': later,
  'POST /v1/chat/completions/derender': {
    summary: 'Generated token ids as a chat answer',
    tag: 'Scale-out',
    request: ['DerenderChatRequest'],
    answer: 'ChatCompletionResponse',
    errors: [...SCALE_OUT_ERRORS, 404, 501],
  },
  'POST /v1/completions/derender': {
    summary: 'Generated token ids as a completion answer',
    tag: 'Scale-out',
    request: ['DerenderCompletionRequest'],
    answer: 'CompletionResponse',
    errors: [...SCALE_OUT_ERRORS, 404, 501],
  },
  'GET /health': health,
  'GET /ping': health,
  'POST /ping': health,
  'GET /version': {summary: 'Version of the server', tag: 'Operation', answer: 'VersionResponse'},
  'GET /load': {summary: 'Requests in progress', tag: 'Operation', answer: 'LoadResponse'},
  'GET /metrics': {
    summary: 'Metrics for Prometheus',
    tag: 'Operation',
    answer: {mediaType: 'text/plain; version=1.0.0; charset=utf-8'},
  },
  'GET /kv_event_sources': {summary: 'Sources of cache events: none', tag: 'Operation', answer: 'AnyObject'},
  'POST /reset_prefix_cache': {
    summary: 'Forget the keys and values of earlier prompts, for developers',
    tag: 'Operation',
    answer: null,
  },
  'GET /server_info': {summary: 'Options and environment, for developers', tag: 'Operation', answer: 'AnyObject'},
  'GET /openapi.json': {summary: 'This description', tag: 'Description', answer: 'AnyObject'},
  'GET /docs': {summary: 'This description as a page', tag: 'Description', answer: {mediaType: 'text/html'}},
  'GET /redoc': {summary: 'This description as a page', tag: 'Description', answer: {mediaType: 'text/html'}},
};
