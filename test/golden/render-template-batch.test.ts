/** Recorded renders through the batch mode of the command: every row gets what it expects. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {renderTemplateOptionsSchema} from '../../src/render-template/options.ts';
import {noColours} from '../../src/render-template/paint.ts';
import {runRenderTemplate} from '../../src/render-template/run.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

describe.skipIf(!hasSharedData)('render-template --batch chat-templates.jsonl', () => {
  it('renders all rows as recorded', async () => {
    const file = join(sharedFolder, 'golden/chat-templates.jsonl');
    const options = renderTemplateOptionsSchema.parse({batch: file, date: '2026-01-05T13:07:09'});
    const errors: string[] = [];
    const results: string[] = [];
    const exitCode = await runRenderTemplate(
      {...options, model: null, json: false},
      {
        readText: async (name) => readFileSync(name, 'utf8'),
        write: (text) => results.push(text),
        writeError: (line) => errors.push(line),
        isTerminal: false,
        palette: noColours,
      },
    );
    const total = results.length;
    expect(total).toBeGreaterThan(1000);
    expect(errors).toEqual([`chat-templates.jsonl: ${total} rows, ${total} of ${total} as expected`]);
    expect(exitCode).toBe(0);
  }, 60_000);
});
