/** A logger that keeps its lines, for tests that read the log. */
import type {Logger} from '../../src/core/util/logger.ts';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: Record<string, unknown>;
  message: string;
}

export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = [];

  debug(fields: object, message: string): void {
    this.#add('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#add('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#add('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#add('error', fields, message);
  }

  /** Lines whose message holds the text. */
  matching(text: string): LogLine[] {
    return this.lines.filter(({message}) => message.includes(text));
  }

  #add(level: LogLine['level'], fields: object, message: string): void {
    this.lines.push({level, fields: fields as Record<string, unknown>, message});
  }
}
