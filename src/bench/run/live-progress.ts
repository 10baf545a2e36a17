/**
 * How a run goes on, as one bar in a terminal and as a line now and then elsewhere: done, in flight, throughput, failures,
 * time to the first token of the last seconds.
 */
import {nowMs} from '../../core/util/clock.ts';
import {numOutputTokens, timeToFirstTokenMs} from '../metrics.ts';
import {isSuccess, type RequestRecord} from '../request-record.ts';
import {percentileOf} from '../statistics.ts';

const recentMs = 10_000;
const msBetweenFrames = 200;
const msBetweenLines = 10_000;
const shareBetweenLines = 0.1;

export interface LiveProgress {
  onSent(): void;
  onRecord(record: RequestRecord): void;
  finish(): void;
}

export const hiddenProgress: LiveProgress = {onSent() {}, onRecord() {}, finish() {}};

/** @param total requests; null when only the time ends the run */
export async function showProgress(
  stream: NodeJS.WriteStream | null,
  total: number | null,
  interrupt: AbortSignal,
): Promise<LiveProgress> {
  if (stream === null) return hiddenProgress;
  const state = new ProgressState(total, interrupt);
  return stream.isTTY ? await drawBar(stream, state) : writeLines(stream, state);
}

class ProgressState {
  readonly total: number | null;
  readonly #interrupt: AbortSignal;
  readonly #startMs = nowMs();
  #sent = 0;
  done = 0;
  #failed = 0;
  #tokens = 0;
  #recent: {atMs: number; ttftMs: number}[] = [];

  constructor(total: number | null, interrupt: AbortSignal) {
    this.total = total;
    this.#interrupt = interrupt;
  }

  readonly hooks = {
    onSent: () => void this.#sent++,
    onRecord: (record: RequestRecord) => this.#take(record),
  };

  #take(record: RequestRecord): void {
    this.done++;
    if (record.failure !== null) this.#failed++;
    if (!isSuccess(record)) return;
    this.#tokens += numOutputTokens(record);
    this.#recent.push({atMs: nowMs(), ttftMs: timeToFirstTokenMs(record)});
  }

  /** @param width what is least important is left out to fit into so many columns */
  text(width: number): string {
    if (this.#interrupt.aborted) return `ending, ${this.#sent - this.done} in flight; Ctrl-C again leaves at once`;
    const seconds = Math.max((nowMs() - this.#startMs) / 1000, 0.001);
    this.#recent = this.#recent.filter(({atMs}) => atMs > nowMs() - recentMs);
    const ttfts = Float64Array.from(this.#recent.map(({ttftMs}) => ttftMs)).sort();
    const parts = [
      {rank: 0, text: `${this.#sent - this.done} in flight`},
      {rank: 5, text: `${(this.done / seconds).toFixed(1)} req/s`},
      {rank: 3, text: `${(this.#tokens / seconds).toFixed(0)} tok/s`},
      {rank: 1, text: this.#failed > 0 ? `${this.#failed} failed` : ''},
      {rank: 4, text: ttfts.length > 0 ? `TTFT ${percentileOf(ttfts, 50).toFixed(0)} ms` : ''},
      {rank: 2, text: this.#timeLeft(seconds)},
    ];
    return mostThatFit(
      parts.filter(({text}) => text !== ''),
      width,
    );
  }

  #timeLeft(seconds: number): string {
    if (this.total === null || this.done === 0 || this.done >= this.total) return '';
    return `ETA ${Math.ceil((seconds / this.done) * (this.total - this.done))} s`;
  }
}

interface Part {
  /** Lower ones stay longer. */
  rank: number;
  text: string;
}

function mostThatFit(parts: readonly Part[], width: number): string {
  const line = parts.map(({text}) => text).join(' · ');
  if (line.length <= width || parts.length <= 1) return line;
  const least = Math.max(...parts.map(({rank}) => rank));
  return mostThatFit(
    parts.filter(({rank}) => rank !== least),
    width,
  );
}

const usualColumns = 80;
/** A long bar only where there is room for everything else. */
const barColumns = {narrow: 10, wide: 20, wideFrom: 110};
/** Of the count where the total is not known. */
const mostDigits = 7;

async function drawBar(stream: NodeJS.WriteStream, state: ProgressState): Promise<LiveProgress> {
  const {SingleBar} = (await import('cli-progress')).default;
  const counts = state.total === null ? '{value}' : '{bar} {value}/{total}';
  const format = `  ${counts}  {text}`;
  const columns = stream.columns || usualColumns;
  const barsize = columns < barColumns.wideFrom ? barColumns.narrow : barColumns.wide;
  const bar = new SingleBar({
    format,
    stream,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize,
    clearOnComplete: true,
  });
  bar.start(state.total ?? 0, 0, {text: ''});
  const countColumns = state.total === null ? mostDigits : barsize + 2 + 2 * `${state.total}`.length;
  const taken = countColumns + '    '.length;
  const draw = () => bar.update(state.done, {text: state.text(columns - taken)});
  const timer = setInterval(draw, msBetweenFrames);
  const finish = () => {
    clearInterval(timer);
    bar.stop();
  };
  return {...state.hooks, finish};
}

/** At most one line for each tenth of the requests or each ten seconds. */
function writeLines(stream: NodeJS.WriteStream, state: ProgressState): LiveProgress {
  const step = Math.max(1, Math.ceil((state.total ?? Number.POSITIVE_INFINITY) * shareBetweenLines));
  let last = {atMs: nowMs(), done: 0};
  const write = () => {
    last = {atMs: nowMs(), done: state.done};
    stream.write(`requests ${state.done}/${state.total ?? '-'}: ${state.text(Number.POSITIVE_INFINITY)}\n`);
  };
  const timer = setInterval(() => {
    if (nowMs() - last.atMs >= msBetweenLines) write();
  }, msBetweenFrames);
  const onRecord = (record: RequestRecord) => {
    state.hooks.onRecord(record);
    if (state.done - last.done >= step) write();
  };
  return {onSent: state.hooks.onSent, onRecord, finish: () => clearInterval(timer)};
}
