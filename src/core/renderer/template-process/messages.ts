/** What crosses the border of a process that runs templates: plain data; variables as JSON that keeps number kinds. */
import type {SerializedError} from '../../errors.ts';
import type {ContentFormat} from '../content-parts.ts';

export type TemplateTask = {type: 'inspect'; source: string} | {type: 'render'; source: string; variablesJson: string};

export type TemplateResult =
  | {type: 'inspected'; contentFormat: ContentFormat; variables: string[]}
  | {type: 'rendered'; text: string}
  | {type: 'failed'; error: SerializedError};
