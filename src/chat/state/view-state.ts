/**
 * What the screen shows, as a pure function of what happened. `items` are finished and only ever grow: the terminal's own
 * scroll history has them. Everything else is the short part below that is drawn again.
 */
import type {BackendFacts} from '../backend/backend.ts';
import type {ChatNews, ReasoningMode} from '../chat-controller.ts';
import type {AnswerStats} from '../conversation/answer-stats.ts';
import type {TalkMessage, ToolCall} from '../conversation/messages.ts';
import {type AnswerBlock, type BlockState, noBlocks, takeBlocks} from './answer-blocks.ts';

export type ViewItem =
  | {type: 'banner'; version: string}
  | {type: 'question'; text: string}
  | {type: 'block'; block: AnswerBlock}
  | {type: 'thought'; text: string; seconds: number; numTokens: number; isFolded: boolean}
  | {type: 'call'; call: ToolCall}
  | {type: 'result'; name: string; text: string; isError: boolean}
  | {type: 'note'; text: string; tone: 'info' | 'warning' | 'error'}
  | {type: 'listing'; title: string; text: string};

export type Phase =
  | 'idle'
  | 'waiting'
  | 'reasoning'
  | 'answer'
  | 'tool-call'
  | 'tool-approval'
  | 'tool-running'
  | 'reconnecting';

export interface ViewState {
  phase: Phase;
  items: ViewItem[];
  /** Answer of the round that is going on. */
  answer: BlockState;
  reasoning: string;
  reasoningStartMs: number;
  /** The last finished thought, for the key that shows it. */
  lastThought: string;
  calls: ToolCall[];
  /** The call that waits for a word of the person, or is running. */
  activeCall: ToolCall | null;
  /** The person may say that calls of this tool need no word any more. */
  canAllow: boolean;
  /** The last line that it said. */
  toolOutput: string;
  retryNote: string;
  phaseStartMs: number;
  facts: BackendFacts | null;
  loading: string | null;
  /** Nothing could be reached or loaded until now. */
  isUnreachable: boolean;
  stats: AnswerStats | null;
  numPieces: number;
  firstPieceMs: number | null;
  contextTokens: number | null;
  reasoningMode: ReasoningMode;
  isRaw: boolean;
  hasQuit: boolean;
  /** Another program has the terminal. */
  isCovered: boolean;
}

/** News of the talk, and what only the screen knows. */
export type ViewEvent =
  | ChatNews
  | {type: 'loading'; text: string | null}
  | {type: 'unreachable'; message: string}
  | {type: 'approval-asked'; call: ToolCall; canAllow: boolean}
  | {type: 'approval-given'}
  | {type: 'show-thought'}
  | {type: 'cover'; isCovered: boolean};

const numStoredShown = 2;
/** Blocks longer than this are shown in parts. */
const maxOpenLines = 8;

export function initialView(version: string, options: {reasoning: ReasoningMode; raw: boolean}): ViewState {
  return {
    phase: 'idle',
    items: [{type: 'banner', version}],
    answer: noBlocks,
    reasoning: '',
    reasoningStartMs: 0,
    lastThought: '',
    calls: [],
    activeCall: null,
    canAllow: false,
    toolOutput: '',
    retryNote: '',
    phaseStartMs: 0,
    facts: null,
    loading: null,
    isUnreachable: false,
    stats: null,
    numPieces: 0,
    firstPieceMs: null,
    contextTokens: null,
    reasoningMode: options.reasoning,
    isRaw: options.raw,
    hasQuit: false,
    isCovered: false,
  };
}

/** @param nowMs of a clock that only goes forward */
export function updateView(state: ViewState, event: ViewEvent, nowMs: number): ViewState {
  switch (event.type) {
    case 'loading':
      return {...state, loading: event.text};
    case 'facts':
      return {...state, facts: event.facts, loading: null, isUnreachable: false};
    case 'unreachable':
      return withItems({...state, loading: null, isUnreachable: true}, errorNote(event.message));
    case 'question':
      return withItems(inPhase(state, 'waiting', nowMs), {type: 'question', text: event.text});
    case 'round-start':
      return {...inPhase(state, 'waiting', nowMs), ...emptyRound};
    case 'reasoning-delta':
      return addThought(countPiece(state, nowMs), event.text, nowMs);
    case 'text-delta':
      return addText(countPiece(closeThought(state, nowMs), nowMs), event.text, nowMs);
    case 'tool-call-start':
      return startCall(countPiece(closeThought(state, nowMs), nowMs), event, nowMs);
    case 'tool-call-delta':
      return {...countPiece(state, nowMs), calls: state.calls.map(withArguments(event))};
    case 'retry': {
      const {reason, seconds, attempt, attempts} = event;
      const retryNote = `${reason.split('. ')[0]}; trying again in ${seconds} s (${attempt}/${attempts})`;
      return {...inPhase(state, 'reconnecting', nowMs), retryNote};
    }
    case 'answer-end':
      return endAnswer(closeThought(state, nowMs), event);
    case 'approval-asked':
      return {...inPhase(state, 'tool-approval', nowMs), activeCall: event.call, canAllow: event.canAllow};
    case 'approval-given':
      return inPhase(state, 'tool-running', nowMs);
    case 'tool-start':
      return {...inPhase(state, 'tool-running', nowMs), activeCall: event.call, toolOutput: ''};
    case 'tool-output':
      return {...state, toolOutput: event.line};
    case 'tool-end': {
      const {call, result} = event;
      return withItems({...state, activeCall: null}, {type: 'result', name: call.function.name, ...result});
    }
    case 'turn-end':
      return withItems({...inPhase(state, 'idle', nowMs), activeCall: null}, ...endNotes(event));
    case 'note':
    case 'listing':
      return withItems(state, event);
    case 'talk-changed':
      return withItems({...state, contextTokens: null, stats: null}, ...storedItems(event.messages));
    case 'show-thought':
      return showThought(state);
    case 'cover':
      return {...state, isCovered: event.isCovered};
    case 'reasoning-mode':
      return {...state, reasoningMode: event.mode};
    case 'raw-mode':
      return {...state, isRaw: event.isRaw};
    case 'quit':
      return {...state, hasQuit: true};
    case 'clear':
    case 'edit':
    case 'copy':
      return state;
  }
}

const emptyRound = {
  answer: noBlocks,
  reasoning: '',
  calls: [] as ToolCall[],
  activeCall: null,
  numPieces: 0,
  firstPieceMs: null,
} as const satisfies Partial<ViewState>;

function withItems(state: ViewState, ...items: ViewItem[]): ViewState {
  return items.length === 0 ? state : {...state, items: [...state.items, ...items]};
}

function inPhase(state: ViewState, phase: Phase, nowMs: number): ViewState {
  return state.phase === phase ? state : {...state, phase, phaseStartMs: nowMs};
}

function countPiece(state: ViewState, nowMs: number): ViewState {
  return {...state, numPieces: state.numPieces + 1, firstPieceMs: state.firstPieceMs ?? nowMs};
}

function addThought(state: ViewState, text: string, nowMs: number): ViewState {
  const reasoningStartMs = state.reasoning === '' ? state.phaseStartMs : state.reasoningStartMs;
  return {...inPhase(state, 'reasoning', nowMs), reasoning: state.reasoning + text, reasoningStartMs};
}

/** A thought that is over becomes an item: the whole text, or one line about it. */
function closeThought(state: ViewState, nowMs: number): ViewState {
  const {reasoning: text, reasoningStartMs, reasoningMode, numPieces: numTokens} = state;
  if (text === '') return state;
  const closed = {...state, reasoning: '', lastThought: text};
  if (reasoningMode === 'hide') return closed;
  const seconds = (nowMs - reasoningStartMs) / 1000;
  return withItems(closed, {type: 'thought', text, seconds, numTokens, isFolded: reasoningMode === 'fold'});
}

function showThought(state: ViewState): ViewState {
  const text = state.reasoning === '' ? state.lastThought : state.reasoning;
  if (text === '') return withItems(state, {type: 'note', text: 'There is no thought yet.', tone: 'info'});
  return withItems(state, {type: 'thought', text, seconds: 0, numTokens: 0, isFolded: false});
}

function addText(state: ViewState, text: string, nowMs: number): ViewState {
  return takeText(inPhase(state, 'answer', nowMs), text, false);
}

function takeText(state: ViewState, text: string, isEnd: boolean): ViewState {
  const taken = takeBlocks(state.answer, text, {isEnd, isRaw: state.isRaw, maxLines: maxOpenLines});
  const items = taken.blocks.map((block) => ({type: 'block' as const, block}));
  return withItems({...state, answer: taken.state}, ...items);
}

function startCall(state: ViewState, {id, name}: {id: string; name: string}, nowMs: number): ViewState {
  const call: ToolCall = {id, type: 'function', function: {name, arguments: ''}};
  return {...inPhase(takeText(state, '', true), 'tool-call', nowMs), calls: [...state.calls, call]};
}

function withArguments({index: meant, argumentsText}: {index: number; argumentsText: string}) {
  return (call: ToolCall, index: number): ToolCall =>
    index === meant
      ? {...call, function: {...call.function, arguments: call.function.arguments + argumentsText}}
      : call;
}

function endAnswer(state: ViewState, event: Extract<ViewEvent, {type: 'answer-end'}>): ViewState {
  const {message, stats} = event;
  const calls = (message.tool_calls ?? []).map((call) => ({type: 'call' as const, call}));
  const ended = withItems(takeText(state, '', true), ...calls, ...shortfalls(event));
  const contextTokens = stats.promptTokens === null ? null : stats.promptTokens + stats.completionTokens;
  return {...ended, calls: [], stats, contextTokens: contextTokens ?? state.contextTokens};
}

/** Why an answer is less than one expects. */
function shortfalls({message, finishReason}: Extract<ViewEvent, {type: 'answer-end'}>): ViewItem[] {
  const isEmpty = finishReason === 'stop' && message.content === '' && !message.tool_calls;
  const isCut = finishReason === 'length';
  const texts = [
    isCut && !message.tool_calls ? '(cut: the limit of tokens is reached; /continue goes on)' : null,
    isCut && message.tool_calls ? '(cut in a call: the limit of tokens is reached)' : null,
    isEmpty && message.reasoning ? '(no answer, only a thought; ctrl-t shows it)' : null,
    isEmpty && !message.reasoning ? '(an empty answer)' : null,
  ];
  return texts.flatMap((text) => (text === null ? [] : [{type: 'note' as const, text, tone: 'warning' as const}]));
}

function endNotes({outcome, error}: Extract<ViewEvent, {type: 'turn-end'}>): ViewItem[] {
  switch (outcome) {
    case 'done':
      return [];
    case 'stopped':
      return [{type: 'note', text: '(stopped)', tone: 'warning'}];
    case 'too-many-rounds':
      return [{type: 'note', text: 'Stopped: too many rounds of tools.', tone: 'warning'}];
    case 'error':
      return [errorNote(error?.message ?? 'unknown error')];
  }
}

function errorNote(text: string): ViewItem {
  return {type: 'note', text, tone: 'error'};
}

/** The end of a stored talk, for a person to know where it was. */
function storedItems(messages: readonly TalkMessage[]): ViewItem[] {
  const said = messages.filter(({role, content}) => (role === 'user' || role === 'assistant') && content !== '');
  const shown = said.slice(-numStoredShown).map(storedItem);
  const numBefore = said.length - shown.length;
  if (numBefore === 0) return shown;
  return [{type: 'note', text: `(${numBefore} earlier messages; /export writes them all)`, tone: 'info'}, ...shown];
}

function storedItem({role, content}: {role: string; content: string}): ViewItem {
  if (role === 'user') return {type: 'question', text: content};
  return {type: 'block', block: {type: 'markdown', text: content, code: null, hasGap: false, indent: 0}};
}
