/**
 * Every error class of the project, and their form for crossing the process border.
 *
 * A mistake a user can make throws one of these, with what was wrong, the value and what is allowed. Which HTTP
 * status, body or exit code an error becomes is decided at the edge (`server/error-response.ts`, `cli/base-command.ts`);
 * nothing here knows it. A plain `Error` that reaches an edge is a bug of ours.
 */

export interface ServingErrorOptions {
  /** The error that led to this one. */
  cause?: unknown;
}

/** Root of all errors that are meant for a user. */
export class ServingError extends Error {
  constructor(message: string, options: ServingErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : {cause: options.cause});
    this.name = new.target.name;
  }
}

export interface ParameterErrorOptions extends ServingErrorOptions {
  /** Name of the request field at fault, e.g. `max_tokens`. Null when no single field is. */
  param?: string | null;
  /** The refused value; `undefined` = not shown. */
  value?: unknown;
  /** False keeps the text as it is; by default the edge appends `(parameter=…, value=…)`. */
  showsParameter?: boolean;
}

/** An error that can name the request field at fault. */
export class ParameterError extends ServingError {
  readonly param: string | null;
  readonly value: unknown;
  readonly showsParameter: boolean;

  constructor(message: string, options: ParameterErrorOptions = {}) {
    super(message, options);
    this.param = options.param ?? null;
    this.value = options.value;
    this.showsParameter = options.showsParameter ?? true;
  }
}

/** A request that the application refuses: HTTP 400, type `BadRequestError`. */
export class ValidationError extends ParameterError {}

/** The body does not fit its schema, is no JSON or has the wrong content type: HTTP 400, type `Bad Request`. */
export class SchemaError extends ParameterError {}

/** A name that does not exist, such as a model: HTTP 404. */
export class NotFoundError extends ParameterError {}

/** Content that was understood but cannot be processed: HTTP 422. */
export class UnprocessableEntityError extends ParameterError {}

/** A route that is switched off on this server: HTTP 403. */
export class PermissionDeniedError extends ServingError {}

/** A known feature that this server does not have: HTTP 501. */
export class UnsupportedError extends ParameterError {}

export interface TemplateErrorOptions extends ServingErrorOptions {
  line?: number | null;
  column?: number | null;
  codeFrame?: string | null;
}

/** A chat template failed while rendering; the message is the template's own text: HTTP 400. */
export class TemplateError extends ServingError {
  /** Where in the template, from 1; null = not known. */
  readonly line: number | null;
  readonly column: number | null;
  /** The lines of the template around the place, with a caret. */
  readonly codeFrame: string | null;

  constructor(message: string, options: TemplateErrorOptions = {}) {
    super(message, options);
    this.line = options.line ?? null;
    this.column = options.column ?? null;
    this.codeFrame = options.codeFrame ?? null;
  }
}

/** A queue limit was reached: HTTP 503. */
export class OverloadedError extends ServingError {}

export interface GenerationErrorOptions extends ServingErrorOptions {
  /** True when the same request may succeed later: 503 instead of 500. */
  retryable?: boolean;
}

/** The engine failed on this request. */
export class GenerationError extends ServingError {
  readonly retryable: boolean;

  constructor(message: string, options: GenerationErrorOptions = {}) {
    super(message, options);
    this.retryable = options.retryable ?? false;
  }
}

/** The engine process is gone: open and new requests cannot be served. */
export class EngineDeadError extends ServingError {}

/** A model's files are missing, damaged or of a kind that cannot be served. Ends the command with exit code 1. */
export class ModelError extends ServingError {}

export interface UsageErrorOptions extends ServingErrorOptions {
  /** One line: what to try instead. */
  hint?: string;
  exitCode?: number;
}

/** Wrong use of the command line. */
export class UsageError extends ServingError {
  readonly hint: string | null;
  /** Process exit code: 2 for wrong flags, 4 for an address that cannot be bound. */
  readonly exitCode: number;

  constructor(message: string, options: UsageErrorOptions = {}) {
    super(message, options);
    this.hint = options.hint ?? null;
    this.exitCode = options.exitCode ?? 2;
  }
}

/** An error as plain data; class instances do not survive the process border. */
export interface SerializedError {
  name: string;
  message: string;
  stack: string | null;
  fields: Record<string, unknown>;
}

const classesByName: ReadonlyMap<string, new (message: string, options?: object) => Error> = new Map(
  [
    ValidationError,
    SchemaError,
    NotFoundError,
    UnprocessableEntityError,
    PermissionDeniedError,
    UnsupportedError,
    TemplateError,
    OverloadedError,
    GenerationError,
    EngineDeadError,
    ModelError,
    UsageError,
    ServingError,
  ].map((errorClass) => [errorClass.name, errorClass]),
);

/** Turns anything thrown into plain data. */
export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) return {name: 'Error', message: String(error), stack: null, fields: {}};
  const {name, message, stack, cause: _cause, ...fields} = error as Error & Record<string, unknown>;
  return {name, message, stack: stack ?? null, fields};
}

/** Rebuilds the error with its class when the class is one of ours, else as a plain `Error`. */
export function deserializeError(data: SerializedError): Error {
  const errorClass = classesByName.get(data.name);
  const error = errorClass ? new errorClass(data.message, data.fields) : new Error(data.message);
  if (data.stack) error.stack = data.stack;
  return error;
}
