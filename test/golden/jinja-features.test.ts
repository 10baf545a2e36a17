/** Small templates, one for each rule of the Jinja dialect, as jinja2 renders them. */
import {describe, expect, it} from 'vitest';
import {compileChatTemplate} from '../../src/core/renderer/chat-template.ts';
import {hasSharedData} from '../support/shared-data.ts';
import {readExactRows, recordedNow} from '../support/template-rows.ts';

interface FeatureRow {
  name: string;
  template: string;
  expected?: string;
  error?: string;
  etype?: string;
}

const [first, ...others] = readExactRows<unknown>('jinja-features.jsonl');
const rows = others as FeatureRow[];

/** What the reference adds to mistakes that it finds while it looks for a template's variables. */
const introspectionSuffix = /\n {2}File "<introspection>", line \d+$/;

function render({template}: FeatureRow): string {
  const {context} = first as {context: Record<string, unknown>};
  return compileChatTemplate(template).render(context, {now: recordedNow});
}

function errorText(row: FeatureRow): string {
  try {
    return `no error, but ${JSON.stringify(render(row))}`;
  } catch (error) {
    return (error as Error).message.replace(introspectionSuffix, '');
  }
}

describe.skipIf(!hasSharedData)('jinja-features.jsonl', () => {
  it.each(rows.filter((row) => row.expected !== undefined))('$name $template', (row) => {
    expect(render(row)).toBe(row.expected);
  });

  it.each(rows.filter((row) => row.error !== undefined))('$name $template fails', (row) => {
    expect(errorText(row)).toBe(row.error);
  });
});
