/**
 * Full lines of a paragraph that goes on become finished text, so that what is drawn again stays short, however long the
 * paragraph and however low the window. A line is full when more words stand behind it, and it is only taken when the
 * paragraph looks the same in two parts, so nothing is lost or said twice.
 */
import type {BlockState} from '../state/answer-blocks.ts';
import type {ViewState} from '../state/view-state.ts';
import {drawOpenBlock} from './draw-live.ts';
import {CodeColours} from './highlight.ts';
import type {Pen} from './pen.ts';
import {paintNone} from './spans.ts';

/** Breaks of lines do not depend on colours. */
const plain = {paint: paintNone, colours: new CodeColours()};
const noBreaks: Pen = {...plain, width: 1_000_000};
/** Each ends something that may be open: what follows would change what stands before. */
const closers = ['*', '**', '_', '__', '`', '``', '~~', ']', '](x)', '>'];
/** What was opened so long ago is not waited for. */
const maxOpenCharacters = 800;
/** What begins like this shows it by its second word at the latest. */
const twoWords = /^\S+\s+\S/;
/** Tables, quotes and headings look different in parts. */
const indivisible = /^\s*[|>#]/;

interface Cut {
  head: string;
  tail: string;
  /** Columns before the lines of the tail. */
  indent: number;
}

/**
 * Moves full lines of the open paragraph to the finished items; the state as it is when there are none.
 * @param width of finished text
 */
export function settleLines(state: ViewState, width: number): ViewState {
  const {answer, isRaw} = state;
  if (state.phase !== 'answer' || answer.fence !== null || (!isRaw && indivisible.test(answer.rest))) return state;
  const cut = fullLines(answer, isRaw, {...plain, width});
  if (cut === null) return state;
  const {isAfterBlank: hasGap, indent} = answer;
  const block = {type: isRaw ? 'raw' : 'markdown', text: cut.head, code: null, hasGap, indent} as const;
  return {
    ...state,
    items: [...state.items, {type: 'block', block}],
    answer: {...answer, rest: cut.tail, isAfterBlank: false, hasText: true, indent: cut.indent},
  };
}

/** Many lines that can be taken, if not all; null when there are none. */
function fullLines(answer: BlockState, isRaw: boolean, pen: Pen): Cut | null {
  const drawn = drawOpenBlock(answer, isRaw, pen);
  for (let numLines = drawn.length - 1; numLines > 0; numLines >>= 1) {
    const cut = cutBehind(numLines, drawn, answer, isRaw, pen);
    if (cut !== null) return cut;
  }
  return null;
}

function cutBehind(
  numLines: number,
  drawn: readonly string[],
  answer: BlockState,
  isRaw: boolean,
  pen: Pen,
): Cut | null {
  const {rest} = answer;
  const drawHead = (head: string) => drawOpenBlock({...answer, rest: head}, isRaw, pen);
  const end = lastFitting(rest, (head) => drawHead(head).length <= numLines);
  const head = rest.slice(0, end);
  const tail = rest.slice(end).replace(/^[ \n]/, '');
  if (end <= 0 || !twoWords.test(tail) || !isSame(drawHead(head), drawn.slice(0, numLines))) return null;
  if (!isRaw && rest.length < maxOpenCharacters && hasOpenEnd({...answer, rest: head})) return null;
  const indent = /^ */.exec(drawn[numLines]!)![0].length;
  const drawnTail = drawOpenBlock({...answer, rest: tail, indent}, isRaw, pen);
  return isSame(drawnTail, drawn.slice(numLines)) ? {head, tail, indent} : null;
}

/** The last end of a word up to which the text fits; -1 when there is none. */
function lastFitting(text: string, fits: (head: string) => boolean): number {
  const ends = [...text.matchAll(/[ \n]/g)].map(({index}) => index);
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(text.slice(0, ends[middle]))) low = middle + 1;
    else high = middle;
  }
  return ends[low - 1] ?? -1;
}

/** Something that was opened, such as bold text, would take a closing mark in. */
function hasOpenEnd(answer: BlockState): boolean {
  const textWith = (end: string) => drawOpenBlock({...answer, rest: answer.rest + end}, false, noBreaks).join('\n');
  const text = textWith('');
  return closers.some((closer) => textWith(closer) !== text + closer);
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, at) => line.trimEnd() === right[at]!.trimEnd());
}
