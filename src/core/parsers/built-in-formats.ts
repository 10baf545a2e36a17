/** The formats that come with the toolkit, one line for each file of formats. */

import type {Format} from './format.ts';

export const builtInFormats: readonly Format[] = [];
