/**
 * Measures chat templates on purpose: `npx tsx test/perf/templates.ts`. Prints, for the slowest of the stored templates,
 * the time to compile and the median time of the slowest recorded chat (aim: 3 ms), and then a long conversation. Ends
 * with exit code 1 when a template misses the aim.
 */
import {compileChatTemplate} from '../../src/core/renderer/chat-template.ts';
import {hasSharedData} from '../support/shared-data.ts';
import {readExactRows, readStoredTemplate, renderRow, type TemplateRow} from '../support/template-rows.ts';

const AIM_MS = 3;
const NUM_RUNS = 15;
const NUM_SHOWN = 10;

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

async function medianMs(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < NUM_RUNS; index++) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return median(times);
}

interface Measurement {
  template: string;
  row: string;
  renderMs: number;
  compileMs: number;
}

async function measureTemplate(template: string, rows: readonly TemplateRow[]): Promise<Measurement> {
  let slowest = {row: '', renderMs: 0};
  for (const row of rows) {
    const renderMs = await medianMs(() => renderRow(row));
    if (renderMs > slowest.renderMs) slowest = {row: row.name, renderMs};
  }
  const source = readStoredTemplate(template);
  return {template, ...slowest, compileMs: await medianMs(() => compileChatTemplate(source))};
}

async function measureAll(): Promise<Measurement[]> {
  const rows = readExactRows<TemplateRow>('chat-templates.jsonl').filter(({expected}) => expected !== undefined);
  const measurements: Measurement[] = [];
  for (const [template, ofTemplate] of groupByTemplate(rows)) {
    measurements.push(await measureTemplate(template, ofTemplate));
  }
  return measurements.sort((left, right) => right.renderMs - left.renderMs);
}

function groupByTemplate(rows: readonly TemplateRow[]): Map<string, TemplateRow[]> {
  const groups = new Map<string, TemplateRow[]>();
  for (const row of rows) groups.set(row.template, [...(groups.get(row.template) ?? []), row]);
  return groups;
}

function show(label: string, ms: number): void {
  process.stdout.write(`${ms.toFixed(2).padStart(9)} ms  ${label}\n`);
}

async function showLongConversation(): Promise<void> {
  const turn = [
    {role: 'user', content: 'Tell me more about it. '.repeat(25)},
    {role: 'assistant', content: 'There is a lot to tell. '.repeat(25)},
  ];
  const messages = [...Array.from({length: 200}, () => turn).flat(), {role: 'user', content: 'Go on.'}];
  const template = compileChatTemplate(readStoredTemplate('qwen3.jinja'));
  const variables = {messages, add_generation_prompt: true};
  show('qwen3.jinja, 401 messages of 600 characters', await medianMs(() => template.render(variables)));
}

if (!hasSharedData) {
  process.stdout.write('The recorded templates are not here: nothing to measure.\n');
} else {
  const measurements = await measureAll();
  for (const {template, row, renderMs, compileMs} of measurements.slice(0, NUM_SHOWN)) {
    show(`${row} (${template} compiles in ${compileMs.toFixed(1)} ms)`, renderMs);
  }
  show('median of all templates', median(measurements.map(({renderMs}) => renderMs)));
  show('slowest to compile', Math.max(...measurements.map(({compileMs}) => compileMs)));
  await showLongConversation();
  const late = measurements.filter(({renderMs}) => renderMs > AIM_MS);
  for (const {template} of late) process.stdout.write(`${template} misses the aim of ${AIM_MS} ms\n`);
  process.exitCode = late.length > 0 ? 1 : 0;
}
