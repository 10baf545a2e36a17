/** Every filter by name: jinja2's, and the `tojson` of transformers. */
import type {Builtin} from '../builtin.ts';
import {toJsonFilter} from '../to-json.ts';
import {htmlFilters} from './html-filters.ts';
import {numberFilters} from './number-filters.ts';
import {selectFilters} from './select-filters.ts';
import {sequenceFilters} from './sequence-filters.ts';
import {textFilters} from './text-filters.ts';

export const filters: ReadonlyMap<string, Builtin> = new Map(
  Object.entries({
    ...textFilters,
    ...sequenceFilters,
    ...selectFilters,
    ...numberFilters,
    ...htmlFilters,
    tojson: toJsonFilter,
  }),
);
