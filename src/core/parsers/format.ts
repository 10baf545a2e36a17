/**
 * A format as data: modes, the markers that lead from one to the next, what text means in each. The machine
 * (machine/format-machine.ts) runs it; plugins export the same types. A definition is made per request by `machine`, so
 * that switches of the request and the end of the prompt can choose markers and the first mode.
 */

import type {CreateReader} from './argument-reader.ts';
import type {CallSpelling} from './call-tags/call-spellings.ts';
import type {ParserContext} from './output-parser.ts';

/** Where a marker leads. */
export interface Transition {
  /** The next mode; the same mode when absent. */
  to?: string;
  /**
   * What happens with the marker's own text: `drop` (default) it, `keep` it as text of the mode that it was found in, or
   * let the next mode `reread` it as its first text.
   */
  marker?: 'drop' | 'keep' | 'reread';
  /** The markup of a call begins here; until its name is known the text is remembered, in case it is none. */
  opensCall?: boolean;
  /** The remembered markup was no call: it is given to the content. */
  fails?: boolean;
  /** The remembered markup is to be forgotten, nothing of it is shown. */
  drops?: boolean;
  /** What the text becomes that the capture left here had collected; by default it was only read. */
  shows?: 'content' | 'reasoning';
  /** The calls that follow count only together: they wait until the group closes; one that fails makes all of them text. */
  opensGroup?: boolean;
  /** The calls of the group are told; a group without any is text. */
  closesGroup?: boolean;
  /** Text that is added to the content, as if the model had written it. */
  inserts?: string;
  /** Gives the reader of the next mode the name of its call without announcing it yet. */
  names?: string;
  /** Announces a call of that name; the next mode is normally a reader. */
  call?: {name: string; id?: string};
}

/** Text of this mode goes to the reader of the answer as it comes. */
export interface TextMode {
  kind: 'text';
  /** `nothing`: read over, for example between calls; remembered while the markup of a call is open. */
  as: 'content' | 'reasoning' | 'nothing';
  on?: Readonly<Record<string, Transition>>;
  /** Blanks at the beginning of the mode are dropped. */
  trimStart?: boolean;
  /** Blanks in front of the marker that leaves the mode, or of the end of the text, are dropped. */
  trimEnd?: boolean;
  /** Taken in front of the first character that is neither a blank nor part of a marker. */
  otherwise?: Transition;
  /** Blanks count for `otherwise`, too. */
  otherwiseAtBlanks?: boolean;
}

/** Text is collected until a marker comes; the collected text decides what follows. */
export interface CaptureMode {
  kind: 'capture';
  on: Readonly<Record<string, Transition | ((captured: string) => Transition)>>;
  /** The text ends inside the capture. Default: the remembered markup goes to the content when there is some. */
  atEnd?: (captured: string) => Transition;
  /** Longest text that can be a header, in characters. Keeps memory bounded. Default: 4096. */
  maxLength?: number;
  /** Taken when the text is longer. Default: to the first mode, remembered markup becomes content. */
  tooLong?: Transition;
}

/** Text goes to an argument reader until it says that its call ends. */
export interface ReaderMode {
  kind: 'reader';
  create: CreateReader;
  /** The mode after the call. */
  next: string;
  /** The mode after a text that turned out to be no call; default `next`. */
  nextFailed?: string;
}

export type Mode = TextMode | CaptureMode | ReaderMode;

export interface MachineDefinition {
  start: string;
  modes: Readonly<Record<string, Mode>>;
  /** What becomes of opened markup whose name never came: shown as content (default), or dropped. */
  unnamedMarkup?: 'content' | 'drop';
  /** Arguments of a call that has none when the text ends; default `{}`. */
  argumentsWhenCut?: string;
  /** An answer that is nothing but a thought is given as content, too, so that the content is not empty. */
  repeatsLoneThought?: boolean;
  /** For formats without markers: the name alone does not make it a call yet, arguments must have begun. */
  announceWithArguments?: boolean;
}

interface FormatBase {
  /** The registered name, then its aliases. */
  names: readonly [string, ...string[]];
  /**
   * When special tokens must stay in the text: `always`, only while calls are possible (`with-tools`), or never asked
   * for (`no`).
   */
  keepsSpecialTokens: 'always' | 'with-tools' | 'no';
  /**
   * Family of formats whose reasoning and calls are one stream of messages: a tool format and a reasoning format of the
   * same family run as one machine, made by the tool format.
   */
  family?: string;
  /** Markers that models of this format have as single tokens. A tokenizer without them is a hint of a wrong name. */
  expectedTokens?: readonly string[];
}

/** What a machine is to tell apart; formats of one family look at it. */
export interface MachineParts {
  /** Reasoning is recognised (a reasoning format is loaded). */
  reasoning: boolean;
  /** Tool calls are recognised (a tool format is loaded). */
  tools: boolean;
}

export type ToolCallIdStyle = 'default' | 'kimi' | 'mistral';

export interface ToolFormat extends FormatBase {
  kind: 'tool';
  machine: (context: ParserContext, parts: MachineParts) => MachineDefinition;
  /**
   * How required and named calls are had: in the format's own markup under a grammar (`native`), as JSON under a schema,
   * in markup that nothing holds the model to (`unheld`), or not at all (`refused`).
   */
  forcedCalls: 'native' | 'json' | 'unheld' | 'refused';
  /** How calls are spelled, for a format that the table of spellings does not know. */
  callSpelling?: CallSpelling;
  /** A named function can be demanded in the format's own markup only. */
  namesInMarkupOnly?: boolean;
  /**
   * Without permission to call: the text is left alone (`raw`), markup is recognised and dropped, or calls are read all
   * the same (`read`) and dropped behind the parser.
   */
  whenNone: 'raw' | 'drop-markup' | 'read';
  ids?: ToolCallIdStyle;
}

export interface ReasoningFormat extends FormatBase {
  kind: 'reasoning';
  /** Without permission to call, markup of calls behind the thought is left alone, whatever the tool format would do. */
  leavesForbiddenCalls?: boolean;
  /** What opens and ends the header of the message that is the answer, where messages have headers. */
  answerHeader?: {begin: string; end: string};
  machine: (context: ParserContext, parts: MachineParts) => MachineDefinition;
}

export type Format = ToolFormat | ReasoningFormat;
