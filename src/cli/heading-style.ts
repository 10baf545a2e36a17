/** How titles of text for people look on stdout: bold where there is colour, plain in pipes. */

import {styleText} from 'node:util';

export function headingStyle(): (text: string) => string {
  return hasColour() ? (text) => styleText('bold', text) : (text) => text;
}

/** `FORCE_COLOR` wins over `NO_COLOR`, and that over the terminal. */
function hasColour(): boolean {
  if (process.env.FORCE_COLOR) return process.env.FORCE_COLOR !== '0';
  return !process.env.NO_COLOR && process.stdout.isTTY === true;
}
