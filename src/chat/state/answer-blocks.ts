/**
 * Splits a growing answer into blocks that are complete and the rest that may still change. What is complete is drawn
 * once and never again, so a block must mean the same whatever follows: lines of code go one by one, paragraphs and
 * tables when a blank line ends them, list items when the next one begins. What is indented, such as the parts of an item,
 * is a block like any other with columns before it; models that indent text mean no code by it.
 */

export interface AnswerBlock {
  type: 'markdown' | 'code' | 'raw';
  text: string;
  /** Of code: what it is written in, and the lines that stand before it in the same fence, as far as colours need them. */
  code: OpenCode | null;
  /** A blank line stands before it. */
  hasGap: boolean;
  /** Columns before each line. */
  indent: number;
}

export interface OpenCode {
  language: string;
  before: string;
}

/** Code that is going on, with the mark that opened it and the columns before that. */
interface Fence extends OpenCode {
  mark: string;
  indent: number;
}

/** More lines before than this make no difference to most code. */
const maxBeforeCharacters = 4000;

export interface BlockState {
  /** Null outside of code. */
  fence: Fence | null;
  /** Text that is not complete yet. */
  rest: string;
  /** Something was taken before, so a gap makes sense. */
  hasText: boolean;
  /** A blank line was seen since the last block. */
  isAfterBlank: boolean;
  /** So many lines of `rest` are the head of a table again, whose first part is taken. */
  numRepeated: number;
  /** Columns before each line of `rest`. */
  indent: number;
}

export const noBlocks: BlockState = {
  fence: null,
  rest: '',
  hasText: false,
  isAfterBlank: false,
  numRepeated: 0,
  indent: 0,
};

/** What is open is drawn again and again, so it must stay short: longer lines and tables come in parts. */
const maxLineCharacters = 4000;
const maxTableLines = 40;

const fenceLine = /^( *)(`{3,}|~{3,})(.*)/;
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const tableRow = /^\s*\|/;
/** A single blank is how some models begin. */
const indentedLine = /^ {2,}(?=\S)/;
const leadingTabs = /^\t+/;
const columnsOfTab = 4;
const tableRule = /^\s*\|?\s*:?-+:?\s*(\||$)/;

/** The first word behind the mark of a fence. */
export function languageOf(info: string): string {
  return /^\s*([\w+#.-]*)/.exec(info)![1]!.toLowerCase();
}

/** @param isRaw every line is complete as it stands @param maxLines lines after which a block without end is cut */
export function takeBlocks(
  state: BlockState,
  added: string,
  {isEnd, isRaw, maxLines}: {isEnd: boolean; isRaw: boolean; maxLines: number},
): {state: BlockState; blocks: AnswerBlock[]} {
  const splitter = new BlockSplitter(state, maxLines, isRaw);
  return splitter.take(state.rest + added, isEnd);
}

class BlockSplitter {
  readonly #maxLines: number;
  readonly #isRaw: boolean;
  readonly #blocks: AnswerBlock[] = [];
  #fence: Fence | null;
  #hasText: boolean;
  #isAfterBlank: boolean;
  #open: string[] = [];
  #numRepeated: number;
  #indent: number;

  constructor({fence, hasText, isAfterBlank, numRepeated, indent}: BlockState, maxLines: number, isRaw: boolean) {
    this.#fence = fence;
    this.#hasText = hasText;
    this.#isAfterBlank = isAfterBlank;
    this.#numRepeated = numRepeated;
    this.#indent = indent;
    this.#maxLines = maxLines;
    this.#isRaw = isRaw;
  }

  take(text: string, isEnd: boolean): {state: BlockState; blocks: AnswerBlock[]} {
    const lines = text.split('\n');
    const last = lines.pop()!;
    for (const line of lines) this.#readLine(this.#withoutFullParts(line));
    const end = this.#withoutFullParts(last);
    if (!isEnd) return {state: this.#state(this.#beginning(end)), blocks: this.#blocks};
    if (end !== '') this.#readLine(end);
    this.#close();
    return {state: noBlocks, blocks: this.#blocks};
  }

  #state(last: string): BlockState {
    return {
      fence: this.#fence,
      rest: [...this.#open, last].join('\n'),
      hasText: this.#hasText,
      isAfterBlank: this.#isAfterBlank,
      numRepeated: this.#numRepeated,
      indent: this.#indent,
    };
  }

  /** A line without end goes in parts, at blanks where there are some. @returns what is left */
  #withoutFullParts(line: string): string {
    let left = line;
    while (left.length > maxLineCharacters) {
      const blank = left.lastIndexOf(' ', maxLineCharacters);
      const end = blank > 0 ? blank : maxLineCharacters;
      this.#readLine(left.slice(0, end));
      this.#close();
      left = left.slice(blank > 0 ? end + 1 : end);
    }
    return left;
  }

  /** The last line, which may go on: it is what it begins as. */
  #beginning(line: string): string {
    if (this.#isRaw || this.#fence !== null) return line;
    if (listItem.test(line)) this.#close();
    return this.#open.length === 0 ? this.#withoutIndent(line) : line;
  }

  #readLine(line: string): void {
    if (this.#isRaw) return this.#add('raw', line);
    const [, spaces = '', mark, info = ''] = fenceLine.exec(line) ?? [];
    if (this.#fence !== null) return this.#readCode(line, mark, this.#fence);
    if (mark !== undefined) return this.#openFence(mark, info, spaces.length);
    if (line.trim() === '') return this.#endBlock();
    if (listItem.test(line)) this.#close();
    this.#readText(this.#withoutIndent(line.replace(leadingTabs, (tabs) => ' '.repeat(columnsOfTab * tabs.length))));
  }

  /** The first line of a block says how far it is indented. */
  #withoutIndent(line: string): string {
    if (this.#open.length > 0) return withoutColumns(line, this.#indent);
    const [spaces = ''] = indentedLine.exec(line) ?? [];
    if (spaces !== '') this.#indent = spaces.length;
    return line.slice(spaces.length);
  }

  #readText(line: string): void {
    this.#open.push(line);
    if (!tableRow.test(line)) return this.#open.length >= this.#maxLines ? this.#close() : undefined;
    if (this.#open.length >= maxTableLines) this.#closeTable();
  }

  /** The part that follows has the same head. */
  #closeTable(): void {
    const head = this.#open.slice(0, 2);
    this.#close();
    if (!tableRule.test(head[1]!)) return;
    this.#open = head;
    this.#numRepeated = head.length;
  }

  #readCode(line: string, mark: string | undefined, fence: Fence): void {
    if (mark?.startsWith(fence.mark) && line.trim() === mark) {
      this.#fence = null;
      return;
    }
    this.#add('code', withoutColumns(line, fence.indent));
    const before = `${fence.before}${line}\n`;
    this.#fence = {...fence, before: before.length > maxBeforeCharacters ? lastLines(before) : before};
  }

  #openFence(mark: string, info: string, columns: number): void {
    this.#close();
    // What was seen of the line before has lost its columns already.
    this.#fence = {mark, language: languageOf(info), before: '', indent: columns + this.#indent};
    this.#indent = 0;
  }

  #endBlock(): void {
    this.#close();
    this.#isAfterBlank = this.#hasText;
  }

  #close(): void {
    if (this.#open.length === 0) return;
    if (this.#open.length > this.#numRepeated) this.#add('markdown', this.#open.join('\n'));
    this.#open = [];
    this.#numRepeated = 0;
    this.#indent = 0;
  }

  /** Lines of one block of code stay together. */
  #add(type: AnswerBlock['type'], text: string): void {
    const last = this.#blocks.at(-1);
    if (type !== 'markdown' && last?.type === type && !this.#isAfterBlank) last.text += `\n${text}`;
    else {
      const indent = this.#fence?.indent ?? this.#indent;
      this.#blocks.push({type, text, code: this.#fence, hasGap: this.#isAfterBlank, indent});
    }
    this.#isAfterBlank = false;
    this.#hasText = true;
  }
}

/** Without as many blanks at the front, as far as there are some. */
export function withoutColumns(line: string, columns: number): string {
  let end = 0;
  while (end < columns && line[end] === ' ') end++;
  return line.slice(end);
}

function lastLines(text: string): string {
  const end = text.slice(-maxBeforeCharacters / 2);
  return end.slice(end.indexOf('\n') + 1);
}
