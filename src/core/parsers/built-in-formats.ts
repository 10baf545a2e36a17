/** The formats that come with the toolkit, one line for each file of formats. */

import type {Format} from './format.ts';
import {jsonArrayFormats} from './tool/json-array.ts';
import {jsonObjectFormats} from './tool/json-object.ts';

export const builtInFormats: readonly Format[] = [
  //
  ...jsonObjectFormats,
  ...jsonArrayFormats,
];
