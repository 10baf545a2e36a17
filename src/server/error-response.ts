/**
 * From an error to status and body, the only place that knows both. Every body of the application has the shape
 * `{"error":{"message","type","param","code"}}`; the framework's own answers (unknown path, wrong method) have another
 * one, in `plugins/error-handler.ts` (vllm/entrypoints/serve/exception_handling/error_response.py).
 */
import {
  EngineDeadError,
  GenerationError,
  NotFoundError,
  OverloadedError,
  ParameterError,
  PermissionDeniedError,
  SchemaError,
  TemplateError,
  UnprocessableEntityError,
  UnsupportedError,
  ValidationError,
} from '../core/errors.ts';
import {pythonStr} from '../core/protocol/openai/python-repr.ts';
import {cleanMessage} from './clean-message.ts';

export interface ErrorBody {
  error: {message: string; type: string; param: string | null; code: number};
}

interface ErrorKind {
  errorClass: abstract new (...args: never[]) => Error;
  status: number;
  type: string;
  /** The text that a client gets in place of the error's own. */
  message?: string;
}

/** The text of the reference when the engine is gone; details go to the log only. */
const ENGINE_DEAD_MESSAGE = 'The server had an error while processing your request.';
const INTERNAL_MESSAGE = 'Internal server error';

const ERROR_KINDS: ErrorKind[] = [
  {errorClass: SchemaError, status: 400, type: 'Bad Request'},
  {errorClass: ValidationError, status: 400, type: 'BadRequestError'},
  {errorClass: TemplateError, status: 400, type: 'BadRequestError'},
  {errorClass: PermissionDeniedError, status: 403, type: 'PermissionDeniedError'},
  {errorClass: NotFoundError, status: 404, type: 'NotFoundError'},
  {errorClass: UnprocessableEntityError, status: 422, type: 'UnprocessableEntityError'},
  {errorClass: UnsupportedError, status: 501, type: 'NotImplementedError'},
  {errorClass: OverloadedError, status: 503, type: 'Service Unavailable'},
  {errorClass: EngineDeadError, status: 500, type: 'InternalServerError', message: ENGINE_DEAD_MESSAGE},
  {errorClass: GenerationError, status: 500, type: 'InternalServerError', message: INTERNAL_MESSAGE},
];

const UNKNOWN_ERROR: ErrorKind = {
  errorClass: Error,
  status: 500,
  type: 'InternalServerError',
  message: INTERNAL_MESSAGE,
};

/** A failed request that may succeed later; inside a chat stream its type stays `InternalServerError`. */
const RETRYABLE_ERROR: ErrorKind = {errorClass: GenerationError, status: 503, type: 'ServiceUnavailableError'};

function kindOf(error: unknown): ErrorKind {
  if (error instanceof GenerationError && error.retryable) return RETRYABLE_ERROR;
  return ERROR_KINDS.find(({errorClass}) => error instanceof errorClass) ?? UNKNOWN_ERROR;
}

/** True for errors that are no mistake of the client: they belong into the log. */
export function isServerFault(error: unknown): boolean {
  return kindOf(error).status === 500;
}

/** ` (parameter=name, value=shown)`: names the field at fault behind the text of an application error. */
function parameterSuffix(error: unknown): string {
  if (!(error instanceof ParameterError) || !error.showsParameter) return '';
  const parts = [
    ...(error.param === null ? [] : [`parameter=${error.param}`]),
    ...(error.value === undefined ? [] : [`value=${pythonStr(error.value)}`]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** An error body with a text of its own. */
export function errorBody(code: number, type: string, message: string, param: string | null = null): ErrorBody {
  return {error: {message: cleanMessage(message), type, param, code}};
}

/** The answer to an error before anything was sent. */
export function errorResponse(error: unknown): {status: number; body: ErrorBody} {
  const {status, type, message} = kindOf(error);
  const text = message ?? (error as Error).message + parameterSuffix(error);
  return {status, body: errorBody(status, type, text, error instanceof ParameterError ? error.param : null)};
}

/** The event for an error inside a chat stream. */
export function chatStreamError(error: unknown): ErrorBody {
  const {body} = errorResponse(error);
  return kindOf(error) === RETRYABLE_ERROR ? {error: {...body.error, type: 'InternalServerError'}} : body;
}
