/**
 * What a template does wrong while it runs, with the kind and the words of Python and jinja2. One class for all kinds:
 * nobody catches them one by one, but callers show the kind and tests compare it.
 */

export type PythonErrorKind =
  | 'AttributeError'
  | 'FilterArgumentError'
  | 'IndexError'
  | 'KeyError'
  | 'LookupError'
  | 'MemoryError'
  | 'NotImplementedError'
  | 'OverflowError'
  | 'RecursionError'
  | 'RuntimeError'
  | 'SecurityError'
  | 'TemplateAssertionError'
  | 'TemplateError'
  | 'TemplateNotFound'
  | 'TemplateRuntimeError'
  | 'TemplateSyntaxError'
  | 'TypeError'
  | 'UndefinedError'
  | 'ValueError'
  | 'ZeroDivisionError';

export class PythonError extends Error {
  readonly kind: PythonErrorKind;

  constructor(kind: PythonErrorKind, message: string) {
    super(message);
    this.name = 'PythonError';
    this.kind = kind;
  }
}

export function typeError(message: string): PythonError {
  return new PythonError('TypeError', message);
}

export function valueError(message: string): PythonError {
  return new PythonError('ValueError', message);
}
