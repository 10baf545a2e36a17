/** From anything thrown to what a person reads and what a script gets: lines on stderr, JSON on stdout, exit code. */
import {ServingError, TemplateError, UsageError} from '../core/errors.ts';

export interface ErrorDescription {
  /** What is wrong, what is allowed. */
  message: string;
  /** What to try, in one line, or the lines at fault. */
  hint: string | null;
  type: string;
  /** 1: it ran and failed; 2: wrong use; 4: an address that cannot be bound. */
  exitCode: number;
  /** True for an error that is nobody's mistake but ours. */
  isBug: boolean;
}

const wrongUseExitCode = 2;

export function describeError(error: unknown): ErrorDescription {
  if (error instanceof UsageError) return {...plain(error), hint: error.hint, exitCode: error.exitCode};
  if (error instanceof TemplateError) return templateFault(error);
  if (error instanceof ServingError) return plain(error);
  if (isParseError(error))
    return {...plain(error), message: withoutHelpLine(error.message), exitCode: wrongUseExitCode};
  const message = error instanceof Error ? error.message : String(error);
  return {...plain(error), message: `Internal error: ${message}`, isBug: true};
}

function plain(error: unknown): ErrorDescription {
  const {name, message} = error instanceof Error ? error : new Error(String(error));
  return {message, hint: null, type: name, exitCode: 1, isBug: false};
}

/** Where in the template it happened, with its lines below. */
function templateFault(error: TemplateError): ErrorDescription {
  const {line, column, codeFrame} = error;
  if (line === null) return plain(error);
  return {
    ...plain(error),
    message: `${error.message}\nin line ${line}, column ${column} of the template`,
    hint: codeFrame,
  };
}

/** Errors of oclif's parser and of its plugins carry an `oclif` key. */
function isParseError(error: unknown): error is Error {
  return error instanceof Error && 'oclif' in error;
}

function withoutHelpLine(message: string): string {
  return message.replace(/\nSee more help with --help$/, '');
}

/** The lines for stderr; the stack of the whole chain of causes only when asked for. */
export function errorLines(error: unknown, {showsStack}: {showsStack: boolean}): string[] {
  const {message, hint, isBug} = describeError(error);
  const tryDebug = isBug && !showsStack ? 'run it again with --log-level debug to see where' : null;
  const lines = [`Error: ${message}`, hint ?? tryDebug].filter((line): line is string => line !== null);
  return showsStack ? [...lines, ...stacks(error)] : lines;
}

function stacks(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = error.stack === undefined ? [] : [error.stack];
  return error.cause === undefined ? own : [...own, 'Caused by:', ...stacks(error.cause)];
}

/** The one JSON document of `--json` on failure. */
export function errorJson(error: unknown): string {
  const {message, type, exitCode} = describeError(error);
  if (!(error instanceof TemplateError)) return JSON.stringify({error: {message, type, code: exitCode}});
  const {line, column} = error;
  return JSON.stringify({error: {message: error.message, type, code: exitCode, line, column}});
}
