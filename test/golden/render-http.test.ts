/**
 * Recorded answers of the routes that render, tokenize and detokenize, against ours: status and body, byte for byte, with
 * numbers as they were written. Rows about what the reference's schema library says, and rows marked as loose, count by
 * their status.
 */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import type {AnswerFormats} from '../../src/core/answer-reader.ts';
import {loadAnswerFormats} from '../../src/core/load-answer-formats.ts';
import {parseJson} from '../../src/core/util/parse-json.ts';
import {writeJson} from '../../src/core/util/write-json.ts';
import {RecordingLogger} from '../support/recording-logger.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';
import {openTestApp, type TestApp} from '../support/test-app.ts';

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

function readRows(): RecordedRow[] {
  const lines = readFileSync(join(sharedFolder, 'golden/render-http.jsonl'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => parseJson(line) as RecordedRow);
}

type Config = RecordedRow['config'];

/** As the recording servers were started. */
async function openApp(config: Config): Promise<TestApp> {
  const isTrusting = config === 'trusting';
  const defaultTemplateKwargs = isTrusting ? {enable_thinking: false, flavour: 'mint'} : {};
  return openTestApp(
    {
      renderer: {defaultTemplateKwargs, modelName: 'smollm2', hidesUnusedTools: isTrusting},
      ...(isTrusting && {formats: await hermesFormats()}),
    },
    {servedModelName: ['smollm2'], enableScaleOut: true, trustRequestChatTemplate: isTrusting},
  );
}

/** @returns what `--enable-auto-tool-choice --tool-call-parser hermes` reads answers with */
async function hermesFormats(): Promise<AnswerFormats> {
  const formats = await loadAnswerFormats(
    {
      enableAutoToolChoice: true,
      toolCallParser: 'hermes',
      toolParserPlugin: null,
      reasoningParser: null,
      reasoningParserPlugin: null,
      stopSparesReasoning: false,
      toolStrictLevel: null,
      enforcesStrictToolCalling: true,
    },
    {template: null, responseTemplate: undefined, logger: new RecordingLogger()},
  );
  return formats!;
}

/** The rows change nothing in a server, so all of them share one. */
const apps = new Map<Config, Promise<TestApp>>();

afterAll(async () => {
  for (const {app} of await Promise.all(apps.values())) await app.close();
});

async function answerOf(row: RecordedRow) {
  if (!apps.has(row.config)) apps.set(row.config, openApp(row.config));
  const {app} = await apps.get(row.config)!;
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
  return comparable(text).replace(/"request_id":"(chatcmpl|cmpl)-[0-9a-f]{16}(-\d+)?/g, '"request_id":"$1-*');
}

/** Texts of the reference's schema library count only where it has no words of its own for a fault. */
function isLoose({reply, loose}: RecordedRow): boolean {
  const message = (reply as {error?: {message: string}}).error?.message ?? '';
  return loose === true || / validation errors? for /.test(message) || /^\d+ validation errors?:/.test(message);
}

/** A tag that holds calls to one markup, as text within text: the same is said by several. */
const structuralTag = /"structural_tag":"(?:[^"\\]|\\.)*"/;

function comparable(text: string): string {
  return text.replace(structuralTag, '"structural_tag":"*"');
}

/** The reference gives every template an argument of one family's; other recordings were made without it. */
function replyText({reply}: RecordedRow): string {
  return comparable(writeJson(reply).replace('"cohere_format":"cmd4",', ''));
}

const rows = hasSharedData ? readRows() : [];

describe.skipIf(!hasSharedData)('render-http.jsonl', () => {
  it.each(rows.map((row) => ({title: `${row.config} ${row.name}`, row})))('$title', async ({row}) => {
    const {status, text} = await answerOf(row);
    const actual = isLoose(row) ? {status} : {status, text};
    const expected = isLoose(row) ? {status: row.status} : {status: row.status, text: replyText(row)};
    expect(actual).toEqual(expected);
  });
});
