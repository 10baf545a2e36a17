/**
 * How the answers to one prompt are read: the parsers that the server has loaded, set up with what the request says and
 * how its prompt ends. Each choice gets a reader of its own, which hears the text token by token and keeps the pieces
 * until the next event. Parsers and engine side meet here.
 */
import {callConstraint, type StrictLevel} from './call-constraint.ts';
import type {ToolCallReading} from './metrics/serving-metrics.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import type {TextReader} from './output/output-processor.ts';
import {createOutputParser, mayCall, type OutputFormats} from './parsers/create-output-parser.ts';
import type {FinishReason, Reading} from './parsers/events.ts';
import type {ReasoningFormat, ToolFormat} from './parsers/format.ts';
import {isPartOfMarker, markersOf} from './parsers/format-markers.ts';
import {LiteralMarkers, withoutSplits} from './parsers/literal-markers.ts';
import type {OutputParser, ParserContext, ParserToolChoice} from './parsers/output-parser.ts';
import {type FoldedPieces, foldPieces, type ParsedPiece} from './parsers/parsed-piece.ts';
import {type ThoughtMarks, thoughtMarksOf} from './parsers/thought-marks.ts';
import {toolSpecs} from './parsers/tool-specs.ts';
import type {ChatCompletionRequest} from './protocol/openai/chat-completion.ts';
import {countToolCalls} from './protocol/openai/earlier-tool-calls.ts';
import type {StructuredOutputs} from './protocol/openai/structured-outputs.ts';
import type {TextParams} from './sampling/sampling-params.ts';
import type {Logger} from './util/logger.ts';

/** What a server was told to read answers with. At least one of the formats is there. */
export interface AnswerFormats {
  tool: ToolFormat | null;
  reasoning: ReasoningFormat | null;
  /** Stop strings act on the answer only, unless a request says otherwise. */
  stopSparesReasoning: boolean;
  /** How far calls are held to the given tools. */
  strictLevel: StrictLevel;
  /** Metadata of the checkpoint that describes its answers. */
  responseTemplate?: unknown;
  logger?: Logger;
  /** Told of every choice in which calls were looked for, when it ends. */
  onToolCallsRead?: (reading: ToolCallReading) => void;
}

/** The fields of a chat request that decide how its answer is read. */
export type ReadRequest = Pick<
  ChatCompletionRequest,
  'tools' | 'tool_choice' | 'parallel_tool_calls' | 'include_reasoning' | 'stop_spares_reasoning'
> & {
  stream: boolean;
  /** The keyword arguments of the chat template. */
  templateKwargs: Record<string, unknown>;
  /** Calls that stand in the conversation already. */
  numEarlierToolCalls: number;
};

export function toReadRequest(request: ChatCompletionRequest, templateKwargs: Record<string, unknown>): ReadRequest {
  return {...request, templateKwargs, numEarlierToolCalls: countToolCalls(request.messages)};
}

/** How much of a prompt's end parsers look at: the last turn as far as it is open, normally a few tokens. */
const TAIL_TOKENS = 1024;

/** The last thing in the text is a header of this kind, from its begin to its end. */
function endsInHeader(text: string, {begin, end}: {begin: string; end: string}): boolean {
  const start = text.lastIndexOf(begin);
  return start !== -1 && text.indexOf(end, start) === text.length - end.length;
}

/** The end of a prompt as text, special tokens included. */
export function promptTail({tokenIds}: {tokenIds: readonly number[]}, tokenizer: Tokenizer): string {
  return tokenizer.decode(tokenIds.slice(-TAIL_TOKENS), {skipSpecialTokens: false});
}

export class AnswerReader {
  readonly context: ParserContext;
  readonly #formats: AnswerFormats;
  readonly #request: ReadRequest;
  readonly #tokenizer: Pick<Tokenizer, 'tokenToId'>;
  readonly #options: ChoiceOptions;
  /** False for a request without tools on a server that reads nothing else. */
  readonly #isAsked: boolean;
  /** What calls hold the answer to; null = nothing. */
  readonly #callConstraint: StructuredOutputs | null;
  /** Markers that are one token; found with the first choice. */
  #markerTokens: ReadonlyMap<number, string> | undefined;

  /**
   * @param tail the end of the prompt as text, special tokens included
   * @throws ValidationError when the demanded calls cannot be had, or definitions of tools contradict each other
   */
  constructor(formats: AnswerFormats, request: ReadRequest, tail: string, tokenizer: Pick<Tokenizer, 'tokenToId'>) {
    this.#formats = formats;
    this.#tokenizer = tokenizer;
    this.#request = request;
    this.#isAsked = formats.reasoning !== null || request.tool_choice !== 'none';
    this.context = parserContextOf(request, tail, formats);
    this.#callConstraint = this.#constrainCalls();
    this.#options = {
      dropsCalls: request.tool_choice === null,
      stopSparesReasoning: request.stop_spares_reasoning ?? formats.stopSparesReasoning,
      tellsEmptyText: formats.tool === null,
      isNamed: typeof request.tool_choice === 'object' && request.tool_choice !== null,
      includesReasoning: request.include_reasoning,
      onEnd: (hasCalls) => this.#tellCalls(hasCalls),
    };
  }

  openChoice(): ChoiceReader {
    this.#markerTokens ??= this.#findMarkerTokens();
    return new ChoiceReader(this.#createParser(this.context), new LiteralMarkers(this.#markerTokens), this.#options);
  }

  /** Under a grammar of calls, markers may be spelled in other tokens, so that all of them count. */
  #findMarkerTokens(): ReadonlyMap<number, string> {
    if (this.#callConstraint !== null) return new Map();
    const markers = [...markersOf(this.#outputFormats(), this.context)].filter((marker) => TAG.test(marker));
    const tokens = markers.map((marker) => [this.#tokenizer.tokenToId(marker), marker] as const);
    return new Map(tokens.filter((entry): entry is readonly [number, string] => entry[0] !== null));
  }

  /**
   * What a whole text means when no call is looked for: formats that leave markup alone show it. Null for formats whose
   * markup cannot be shown.
   */
  readWithoutCalls(text: string): FoldedPieces | null {
    if (this.#formats.tool?.whenNone !== 'raw') return null;
    const parser = this.#createParser({...this.context, toolChoice: 'none'});
    return foldPieces([...parser.push(text), ...parser.finish('stop')]);
  }

  #tellCalls(hasCalls: boolean): void {
    if (this.#formats.tool === null || !mayCall(this.context)) return;
    const mode = this.#request.stream ? 'streaming' : 'non_streaming';
    this.#formats.onToolCallsRead?.({mode, outcome: hasCalls ? 'tool_call' : 'no_tool_call'});
  }

  /**
   * What the answer is held to: demanded calls take the place of what the request states, free ones give way to it.
   * @param stated null = the request states nothing
   */
  constraint(stated: StructuredOutputs | null): StructuredOutputs | null {
    if (stated !== null && this.context.toolChoice === 'auto') return stated;
    return this.#callConstraint ?? stated;
  }

  #constrainCalls(): StructuredOutputs | null {
    const {tool: format, strictLevel: level} = this.#formats;
    if (format === null) return null;
    const {templateKwargs: variables} = this.#request;
    return callConstraint(this.#request, {format, level, mayThink: this.readsReasoning, variables});
  }

  /** True when thoughts are told apart. */
  get readsReasoning(): boolean {
    return this.#formats.reasoning !== null;
  }

  /** True when calls are read from JSON that a schema forced out of the model, not from the format's own markup. */
  get readsForcedJson(): boolean {
    const {toolChoice} = this.context;
    return this.#formats.tool?.forcedCalls === 'json' && toolChoice !== 'auto' && toolChoice !== 'none';
  }

  /** Special tokens that are markers of the formats must stay in the text; the others still go. */
  textParams(params: TextParams, tokenizer: Tokenizer): TextParams {
    if (!params.skipSpecialTokens || !this.#isAsked || !this.#needsSpecialTokens()) return params;
    const markers = markersOf(this.#outputFormats(), this.context);
    const kept = [...tokenizer.specialTokenIds].filter((tokenId) =>
      isPartOfMarker(tokenizer.idToToken(tokenId) ?? '', markers),
    );
    return {...params, skipSpecialTokens: false, keptSpecialTokenIds: new Set(kept)};
  }

  /** How thoughts are marked; null when none are read, or when no mark ends them. */
  get thoughtMarks(): ThoughtMarks | null {
    const definition = this.#formats.reasoning?.machine(this.context, {reasoning: true, tools: false});
    return definition === undefined ? null : thoughtMarksOf(definition);
  }

  /** The header of the message that is the answer; null where answers have none, or where the prompt wrote it already. */
  get answerHeader(): {begin: string; end: string} | null {
    const header = this.#formats.reasoning?.answerHeader;
    return header === undefined || endsInHeader(this.context.promptTail, header) ? null : header;
  }

  #needsSpecialTokens(): boolean {
    const {tool, reasoning} = this.#formats;
    const mayBeCalled = mayCall(this.context) && this.context.tools.length > 0;
    return [tool, reasoning].some(
      (format) =>
        format?.keepsSpecialTokens === 'always' || (format?.keepsSpecialTokens === 'with-tools' && mayBeCalled),
    );
  }

  #createParser(context: ParserContext): OutputParser {
    return createOutputParser(this.#outputFormats(), context);
  }

  #outputFormats(): OutputFormats {
    const {tool, reasoning, logger} = this.#formats;
    return {
      ...(tool && {tool}),
      ...(reasoning && {reasoning}),
      onFault: (error) => logger?.error({err: error}, 'a parser failed; the rest of the answer is plain text'),
    };
  }
}

function parserContextOf(request: ReadRequest, promptTail: string, formats: AnswerFormats): ParserContext {
  return {
    tools: toolSpecs(request.tools ?? []),
    toolChoice: formats.tool === null ? 'none' : toolChoiceOf(request),
    parallelToolCalls: request.parallel_tool_calls,
    includeReasoning: request.include_reasoning,
    chatTemplateKwargs: request.templateKwargs,
    promptTail,
    numEarlierToolCalls: request.numEarlierToolCalls,
    responseTemplate: formats.responseTemplate,
    hidesCutMarkup: request.stream,
  };
}

/** With null the markup is read like with `auto`. */
function toolChoiceOf({tool_choice: choice, tools}: ReadRequest): ParserToolChoice {
  if (choice === null) return (tools ?? []).length > 0 ? 'auto' : 'none';
  return typeof choice === 'object' ? {name: choice.function.name} : choice;
}

/** What a tokenizer has as one token only when it was made one; other markers are ordinary text. */
const TAG = /^(<.{2,}>|\[.{2,}\])$/;

interface ChoiceOptions {
  /** Calls are read and not reported. */
  dropsCalls: boolean;
  stopSparesReasoning: boolean;
  /** Outputs without text are told as empty text of the answer. */
  tellsEmptyText: boolean;
  /** The request named its function. */
  isNamed: boolean;
  includesReasoning: boolean;
  onEnd: (hasCalls: boolean) => void;
}

export class ChoiceReader implements TextReader {
  readonly #parser: OutputParser;
  readonly #markers: LiteralMarkers;
  readonly #options: ChoiceOptions;
  #pieces: ParsedPiece[] = [];
  #numReasoningTokens = 0;
  #hasReasoned: boolean;
  #hasCalls = false;
  /** Characters since the last reading. */
  #numNewCharacters = 0;

  constructor(parser: OutputParser, markers: LiteralMarkers, options: ChoiceOptions) {
    this.#parser = parser;
    this.#markers = markers;
    this.#options = options;
    this.#hasReasoned = parser.isReasoning;
  }

  get canStop(): boolean {
    return !(this.#options.stopSparesReasoning && this.#parser.isReasoning);
  }

  noteToken(tokenId: number, text: string): void {
    this.#markers.announce(tokenId, text);
  }

  readToken(text: string): void {
    const wasReasoning = this.#parser.isReasoning;
    this.#note(text, text === '' ? [] : this.#parser.push(this.#markers.split(text)));
    if (wasReasoning && this.#parser.isReasoning) this.#numReasoningTokens++;
  }

  readEnd(held: string, finishReason: FinishReason): void {
    if (held !== '') this.#note(held, this.#parser.push(this.#markers.split(held)));
    this.#note('', this.#parser.finish(finishReason));
    this.#options.onEnd(this.#hasCalls);
  }

  /** What was read since the last call. */
  take(): Reading {
    const pieces = this.#pieces.length === 0 && this.#numNewCharacters === 0 ? this.#emptyPieces() : this.#pieces;
    this.#pieces = [];
    this.#numNewCharacters = 0;
    return {pieces, numReasoningTokens: this.#numReasoningTokens, hasReasoned: this.#hasReasoned};
  }

  /** Why the choice ended, as a client sees it: a call counts when it was reported and the engine stopped by itself. */
  finishReason(engineReason: FinishReason): FinishReason {
    return engineReason === 'stop' && this.#hasCalls && !this.#options.isNamed ? 'tool_calls' : engineReason;
  }

  #note(text: string, pieces: ParsedPiece[]): void {
    this.#numNewCharacters += text.length;
    const shown = this.#options.dropsCalls ? pieces.filter(isNoCall) : pieces;
    this.#pieces.push(...shown.map(withoutSplitMarkers));
    this.#hasCalls ||= shown.some(({type}) => type === 'tool-call-start');
    this.#hasReasoned ||= this.#parser.isReasoning || pieces.some(({type}) => type === 'reasoning-delta');
  }

  /** An output without text, such as a special token, belongs to what goes on. */
  #emptyPieces(): ParsedPiece[] {
    if (this.#parser.isReasoning) return this.#options.includesReasoning ? [{type: 'reasoning-delta', text: ''}] : [];
    return this.#options.tellsEmptyText ? [{type: 'text-delta', text: ''}] : [];
  }
}

/** A piece as it is shown. */
function withoutSplitMarkers(piece: ParsedPiece): ParsedPiece {
  switch (piece.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return {...piece, text: withoutSplits(piece.text)};
    case 'tool-call-start':
      return {...piece, name: withoutSplits(piece.name), id: withoutSplits(piece.id)};
    case 'tool-call-delta':
      return {...piece, argumentsText: withoutSplits(piece.argumentsText)};
  }
}

function isNoCall({type}: ParsedPiece): boolean {
  return type !== 'tool-call-start' && type !== 'tool-call-delta';
}
