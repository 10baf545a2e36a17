/** Where plain text goes. */
export interface PlainOutput {
  /** On stdout. */
  write(text: string): void;
  /** A piece of text on stderr. */
  writeError(text: string): void;
}
