/**
 * What the end of a prompt leaves open: behind the last anchor, fields open and close as in an answer, so tags that the
 * chat template wrote already count.
 */

import type {FixedEnds} from './pattern.ts';
import type {ResponseTemplate, TemplateField} from './template.ts';

export interface OpenField {
  field: TemplateField;
  /** Named groups of its opener. */
  groups: Readonly<Record<string, string>>;
  /** What the prompt holds behind the opener. */
  text: string;
}

/** Undefined when no field is open. */
export function openAtEnd(template: ResponseTemplate, prompt: string): OpenField | undefined {
  let text = behindAnchor(prompt, template.anchor);
  for (;;) {
    const open = firstOpener(template, text);
    if (open === undefined) return undefined;
    const behind = behindFirst(open.text, open.field.closers);
    if (behind === undefined) return open;
    text = behind;
  }
}

function behindAnchor(prompt: string, anchor: RegExp | undefined): string {
  if (anchor === undefined) return prompt;
  const last = [...prompt.matchAll(anchor)].at(-1);
  return last === undefined ? '' : prompt.slice(last.index + last[0].length);
}

function firstOpener(template: ResponseTemplate, text: string): OpenField | undefined {
  let first: (OpenField & {index: number}) | undefined;
  for (const field of template.fields) {
    for (const opener of field.openers) {
      const found = findOpener(opener, text);
      if (found !== undefined && (first === undefined || found.index < first.index)) first = {field, ...found};
    }
  }
  return first;
}

function findOpener(
  {prefix, suffix, whole}: FixedEnds,
  text: string,
): (Omit<OpenField, 'field'> & {index: number}) | undefined {
  const index = text.indexOf(prefix);
  if (index < 0) return undefined;
  if (suffix === undefined || whole === undefined) return {index, groups: {}, text: text.slice(index + prefix.length)};
  const end = suffix === '' ? text.length : text.indexOf(suffix, index + prefix.length) + suffix.length;
  const match = whole.exec(text.slice(index, end).trimEnd());
  return match === null ? undefined : {index, groups: match.groups ?? {}, text: text.slice(end)};
}

function behindFirst(text: string, closers: readonly string[]): string | undefined {
  const ends = closers.map((closer) => [text.indexOf(closer), closer.length] as const).filter(([index]) => index >= 0);
  const first = ends.sort(([a], [b]) => a - b)[0];
  return first === undefined ? undefined : text.slice(first[0] + first[1]);
}
