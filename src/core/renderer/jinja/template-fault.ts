/** The one error that the engine throws: kind and words of Python or jinja2, and where in the template it happened. */
import {PythonError, type PythonErrorKind} from './python-error.ts';
import {codeFrame, locate, type SourceLocation} from './source-location.ts';

export class TemplateFault extends Error {
  readonly kind: PythonErrorKind;
  readonly location: SourceLocation;
  /** The lines of the template around the place, with a caret. */
  readonly frame: string;

  constructor(error: PythonError, source: string, offset: number) {
    super(error.message, {cause: error});
    this.name = 'TemplateFault';
    this.kind = error.kind;
    this.location = locate(source, offset);
    this.frame = codeFrame(source, this.location);
  }
}

/** A syntax error, or what the compiler refuses, before it knows the source it stands in. */
export class PlacedError extends PythonError {
  readonly offset: number;

  constructor(kind: PythonErrorKind, message: string, offset: number) {
    super(kind, message);
    this.offset = offset;
  }
}

export function syntaxError(message: string, offset: number): PlacedError {
  return new PlacedError('TemplateSyntaxError', message, offset);
}

/**
 * Python's error for what a thrown value is, or undefined when it is a mistake of ours. JavaScript's own limits (its
 * stack, the longest string) are errors of the template.
 */
export function toPythonError(thrown: unknown): PythonError | undefined {
  if (thrown instanceof PythonError) return thrown;
  if (!(thrown instanceof RangeError)) return undefined;
  if (/call stack/.test(thrown.message)) return new PythonError('RecursionError', 'maximum recursion depth exceeded');
  return new PythonError('MemoryError', `The template makes a value that is too big: ${thrown.message}.`);
}
