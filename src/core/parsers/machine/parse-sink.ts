/** What a machine tells while it reads: the events of one format, before calls get indices and requests have their say. */

export interface ParseSink {
  content(text: string): void;
  reasoning(text: string): void;
  /** A call whose name is complete. `id` when the model wrote one. */
  callStart(name: string, id: string | undefined): void;
  /** The next characters of the JSON text of the open call's arguments. */
  callArguments(json: string): void;
  callEnd(): void;
}
