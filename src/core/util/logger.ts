/** The logger that is passed into everything that logs. pino fits; below the edge nobody imports pino. */

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs nothing; the default of library use and of tests. */
export const silentLogger: Logger = {debug() {}, info() {}, warn() {}, error() {}};
