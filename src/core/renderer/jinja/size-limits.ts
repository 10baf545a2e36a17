/**
 * Largest values that one operation may make. A template cannot fill the memory with one `'a' * 10**12`; how many
 * operations it may do is the evaluator's limit.
 */
import {PythonError} from './python-error.ts';

/** In UTF-16 units; far above any prompt. */
const maxTextLength = 2 ** 24;
const maxListLength = 2 ** 21;
const maxIntegerBits = 2 ** 16;

export function assertTextLength(length: number): void {
  if (length > maxTextLength) throw tooBig(`a text of more than ${maxTextLength} characters`);
}

export function assertListLength(length: number): void {
  if (length > maxListLength) throw tooBig(`a list of more than ${maxListLength} elements`);
}

export function assertIntegerBits(bits: number): void {
  if (bits > maxIntegerBits) throw tooBig(`an integer of more than ${maxIntegerBits} bits`);
}

function tooBig(what: string): PythonError {
  return new PythonError('MemoryError', `The template makes ${what}.`);
}
