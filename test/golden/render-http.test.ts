/**
 * Recorded answers of the routes that render, tokenize and detokenize, against ours: status and body, byte for byte, with
 * numbers as they were written. Rows about what the reference's schema library says, and rows marked as loose, count by
 * their status. Rows whose template needs what the template engine lacks are expected to differ, so that a better engine
 * shows.
 */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseJson} from '../../src/core/util/parse-json.ts';
import {writeJson} from '../../src/core/util/write-json.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';
import {closeAppsAfterEach, openTestApp} from '../support/test-app.ts';

closeAppsAfterEach();

interface RecordedRow {
  name: string;
  config: 'default' | 'trusting';
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  /** A body that is no JSON. */
  raw?: string;
  status: number;
  reply: unknown;
  loose?: boolean;
}

/** Python's error texts, numbers and ways to print, which the template engine does not have. */
const beyondTheEngine = ['chat/template_unknown_filter', 'cdump/tool_schema_float'];

/** Rows whose server reads tool calls from its answers. */
const beyondOurParsers = [
  'chat/tools_parser_auto',
  'cdump/tools_auto',
  'chat/skip_special_parser',
  'chat/context_parallel_false',
  'chat/context_choice_null',
];

function readRows(): RecordedRow[] {
  const lines = readFileSync(join(sharedFolder, 'golden/render-http.jsonl'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => parseJson(line) as RecordedRow);
}

/** As the recording servers were started. */
function openApp({config}: RecordedRow) {
  const isTrusting = config === 'trusting';
  const defaultTemplateKwargs = isTrusting ? {enable_thinking: false, flavour: 'mint'} : {};
  return openTestApp(
    {renderer: {defaultTemplateKwargs, modelName: 'smollm2', hidesUnusedTools: isTrusting}},
    {servedModelName: ['smollm2'], enableScaleOut: true, trustRequestChatTemplate: isTrusting},
  );
}

async function answerOf(row: RecordedRow) {
  const {app} = await openApp(row);
  const response = await app.inject({
    method: row.method,
    url: row.path,
    headers: {'content-type': 'application/json'},
    ...(row.method === 'POST' && {payload: row.raw ?? writeJson(row.body)}),
  });
  return {status: response.statusCode, text: masked(response.body)};
}

/** Ids without the part that changes, as in the recording. */
function masked(text: string): string {
  return text.replace(/"request_id":"(chatcmpl|cmpl)-[0-9a-f]{16}(-\d+)?/g, '"request_id":"$1-*');
}

/** Texts of the reference's schema library count only where it has no words of its own for a fault. */
function isLoose({reply, loose}: RecordedRow): boolean {
  const message = (reply as {error?: {message: string}}).error?.message ?? '';
  return loose === true || / validation errors? for /.test(message) || /^\d+ validation errors?:/.test(message);
}

/** The reference gives every template an argument of one family's; other recordings were made without it. */
function replyText({reply}: RecordedRow): string {
  return writeJson(reply).replace('"cohere_format":"cmd4",', '');
}

const rows = hasSharedData ? readRows() : [];

describe.skipIf(!hasSharedData)('render-http.jsonl', () => {
  it.each(rows.map((row) => ({title: `${row.config} ${row.name}`, row})))('$title', async ({row}) => {
    const {status, text} = await answerOf(row);
    const actual = isLoose(row) ? {status} : {status, text};
    const expected = isLoose(row) ? {status: row.status} : {status: row.status, text: replyText(row)};
    if ([...beyondTheEngine, ...beyondOurParsers].includes(row.name)) expect(actual).not.toEqual(expected);
    else expect(actual).toEqual(expected);
  });
});
