/**
 * Recorded bodies of `/tokenize` and `/detokenize` against our routes. Rows whose template needs what the template engine
 * lacks are expected to differ, so that a better engine shows.
 */
import {describe, expect, it} from 'vitest';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';
import {closeAppsAfterEach, openTestApp} from '../support/test-app.ts';

closeAppsAfterEach();

interface Row {
  name: string;
  config: 'default' | 'trusting';
  method: string;
  path: string;
  body?: object;
  raw?: string;
  status: number;
  reply: {error?: {message: string; type: string; param: string | null}};
  loose?: boolean;
}

const routes = ['/tokenize', '/detokenize'];

/** Python's numbers and ways to print, and loops over the characters of a text, which the template engine does not have. */
const beyondTheEngine = [
  'dump/args_nan',
  'dump/args_bigint',
  'dump/kwargs',
  'dump/kwargs_request',
  'dump/kwargs_null_default',
  'dump/openai_tool_parts',
  'dump/ns_of_content',
  'dump/dict_alias',
  'dump/for_two_names',
];

const rows = hasSharedData
  ? readGoldenLines<Row>('render-http.jsonl').filter(({path, method}) => routes.includes(path) && method === 'POST')
  : [];

function openApp({config}: Row) {
  if (config === 'default') return openTestApp({}, {servedModelName: ['smollm2']});
  const defaultTemplateKwargs = {enable_thinking: false, flavour: 'mint'};
  return openTestApp(
    {renderer: {defaultTemplateKwargs}},
    {servedModelName: ['smollm2'], trustRequestChatTemplate: true},
  );
}

async function answer(row: Row) {
  const {post} = await openApp(row);
  const {status, body} = await post(row.path, row.body ?? row.raw ?? '');
  return {status, reply: body};
}

/** Texts of the reference's schema library count only where it has no words of its own for a fault. */
function expected({status, reply, loose}: Row): object {
  if (!reply.error || !(loose || / validation errors? for /.test(reply.error.message))) return {status, reply};
  return {status};
}

describe.skipIf(!hasSharedData)('render-http.jsonl', () => {
  it.each(rows.map((row) => ({title: `${row.config} ${row.name}`, row})))('$title', async ({row}) => {
    const actual = await answer(row);
    if (beyondTheEngine.includes(row.name)) expect(actual).not.toMatchObject(expected(row));
    else expect(actual).toMatchObject(expected(row));
  });
});
