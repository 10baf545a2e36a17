/**
 * stderr of a running command, shared by log lines and progress bars: while bars are drawn, lines go above them. In a
 * pipe there are no bars; progress becomes a line per stage and file, and one every ten seconds.
 */
import type {LoadProgress} from '../core/llm.ts';

export interface TerminalOutput {
  /** Whole lines, as a logger writes them. */
  write(text: string): void;
  report(progress: LoadProgress): void;
  /** Takes the bars away. May be called twice. */
  finishProgress(): void;
}

export interface TerminalOutputOptions {
  stream: NodeJS.WriteStream;
  /** False shows no progress at all. */
  showsProgress: boolean;
  /** A progress line where there is no terminal. */
  writeLine: (line: string) => void;
}

const secondsBetweenLines = 10;
const eraseToEndOfLine = '\u001b[K';
/** Bars switch the wrapping of long lines off; log lines need it. */
const wrapLines = '\u001b[?7h';
const cutLines = '\u001b[?7l';

export async function createTerminalOutput(options: TerminalOutputOptions): Promise<TerminalOutput> {
  const {stream, showsProgress} = options;
  if (!showsProgress) return {write: (text) => stream.write(text), report() {}, finishProgress() {}};
  return stream.isTTY ? barOutput(stream) : lineOutput(options, () => performance.now() / 1000);
}

async function barOutput(stream: NodeJS.WriteStream): Promise<TerminalOutput> {
  const {MultiBar} = (await import('cli-progress')).default;
  const format = '  {stage} {bar} {percentage} %  {detail}';
  const style = {barCompleteChar: '█', barIncompleteChar: '░', barsize: 30, format, stream};
  const bars = new MultiBar({...style, clearOnComplete: true, autopadding: true, linewrap: null});
  const byStage = new Map<string, ReturnType<typeof bars.create>>();
  let isDrawing = true;
  return {
    write: (text) => (isDrawing && byStage.size > 0 ? bars.log(overBar(text)) : stream.write(text)),
    report({stage, item, fraction, detail}) {
      const payload = {stage: stage.padEnd(8), detail};
      const key = [stage, item].join(' ');
      const bar = byStage.get(key) ?? bars.create(1, 0, payload);
      byStage.set(key, bar);
      bar.update(fraction, payload);
    },
    finishProgress() {
      if (!isDrawing) return;
      isDrawing = false;
      // Lines wait for the next drawing of the bars, and `stop` draws no more.
      if (byStage.size > 0) bars.update();
      bars.stop();
    },
  };
}

/** A line that is written over a longer bar erases what is left of it; one that is too long for the terminal is wrapped. */
export function overBar(text: string): string {
  return `${wrapLines}${text.replaceAll('\n', `${eraseToEndOfLine}\n`)}${cutLines}`;
}

/** @param now seconds of a clock that only goes forward */
export function lineOutput({stream, writeLine}: TerminalOutputOptions, now: () => number): TerminalOutput {
  const lastSeconds = new Map<string, number>();
  return {
    write: (text) => stream.write(text),
    report({stage, item, fraction, detail}) {
      const key = [stage, item].join(' ');
      const last = lastSeconds.get(key);
      if (last !== undefined && now() - last < secondsBetweenLines) return;
      lastSeconds.set(key, now());
      writeLine(`${stage} ${Math.floor(fraction * 100)} % ${detail}`.trimEnd());
    },
    finishProgress() {},
  };
}
