/**
 * Who owns which row of the KV cache, what each row holds, and how much memory all of them take.
 *
 * A row is used (has an owner), cached (no owner, content kept for reuse) or free (no content). `tokenIds` of a row are
 * exactly the tokens whose keys and values have been computed; a token that was sampled but not yet fed is not among
 * them. Memory is counted in blocks that were ever written (`numBlocks`); their sum stays within the budget: what is
 * merely left over goes first, then cached content used longest ago, tail first. Only when that does not suffice
 * `reserve` says no, and the scheduler must preempt.
 */

import {assertInvariant} from '../../util/assert.ts';
import type {KvRowStore} from '../model-runner/model-runner.ts';
import {minChunkTokens} from '../scheduler/chunk-length.ts';
import {planWindow, type RowMove} from './decode-window.ts';
import {choosePlacement, type Placement, type RowCandidate} from './row-placement.ts';

/** What the manager must know of a sequence; it sets `row`. */
export interface RowOwner {
  row: number;
  readonly tokenIds: readonly number[];
  /** Of its tokens, how many were not made by the model. */
  readonly numPromptTokens: number;
  readonly cacheSalt: string | null;
  /** False: all of its tokens must be computed for it. */
  readonly mayReusePrefix: boolean;
}

export interface KvCacheOptions {
  /** Budget over all rows; rounded up to whole blocks. */
  maxTokens: number;
  enablePrefixCaching: boolean;
}

interface Row {
  readonly index: number;
  /** Computed tokens. `[0, tokenIds.length)` of the row's memory is theirs. */
  tokenIds: number[];
  /** The owner may write up to here. 0 without owner. */
  reservedTokens: number;
  /** Blocks from the row's start that have been written since they were last given back. */
  numBlocks: number;
  owner: RowOwner | null;
  salt: string | null;
  /** Larger = later. */
  lastUsed: number;
  /** False: the content serves its owner only and goes with it. */
  isReusable: boolean;
}

const blockTokens = 16;
/** Least content given up at once: giving memory back costs system calls for every layer. */
const trimTokens = 256;
/** Room that each running sequence should still have when another one is let in. */
const headroomTokens = 16;

const blocksOf = (numTokens: number) => Math.ceil(numTokens / blockTokens);
const neededBlocks = (row: Row) => blocksOf(Math.max(row.tokenIds.length, row.reservedTokens));

export class KvCacheManager {
  readonly #store: KvRowStore;
  readonly #rows: Row[];
  readonly #maxBlocks: number;
  readonly #enablePrefixCaching: boolean;
  #clock = 0;
  /** Sum of `numBlocks` over all rows. */
  #writtenBlocks = 0;

  constructor(store: KvRowStore, {maxTokens, enablePrefixCaching}: KvCacheOptions) {
    this.#store = store;
    this.#maxBlocks = blocksOf(maxTokens);
    this.#enablePrefixCaching = enablePrefixCaching;
    this.#rows = Array.from({length: store.numRows}, (_, index) => ({
      index,
      tokenIds: [],
      reservedTokens: 0,
      numBlocks: 0,
      owner: null,
      salt: null,
      lastUsed: 0,
      isReusable: true,
    }));
  }

  get numRows(): number {
    return this.#rows.length;
  }

  /** Most tokens that one sequence can have in the cache when it is alone. */
  get maxSequenceTokens(): number {
    return Math.min(this.#store.rowCapacity, this.#maxBlocks * blockTokens);
  }

  /** Tokens held for owners. */
  get numUsedTokens(): number {
    return sumOf(this.#ownedRows(), (row) => row.tokenIds.length);
  }

  /** Tokens kept for reuse. */
  get numCachedTokens(): number {
    return sumOf(this.#freeRows(), (row) => row.tokenIds.length);
  }

  /** Tokens of the owner that are computed. */
  numTokens(owner: RowOwner): number {
    return this.#rowOf(owner).tokenIds.length;
  }

  /** Whether a row is free and the whole sequence fits beside those that run, with a little room for each to grow. */
  canAdmit(owner: RowOwner): boolean {
    if (this.#freeRows().length === 0) return false;
    const owners = this.#ownedRows().map((row) => row.owner as RowOwner);
    const wantedBlocks = sumOf([...owners, owner], ({tokenIds}) => blocksOf(tokenIds.length + headroomTokens));
    return owners.length === 0 || wantedBlocks <= this.#maxBlocks;
  }

  /**
   * Whether one of the other sequences, which get on in this step, will hold a longer common beginning than any row
   * holds now: waiting for it is cheaper than computing the same twice.
   */
  isPrefixUnderway(owner: RowOwner, others: readonly RowOwner[]): boolean {
    const held = Math.max(...this.#rows.map((row) => this.#reusableTokens(row, row.tokenIds, owner)));
    return others.some(
      (other) => this.#reusableTokens(this.#rowOf(other), other.tokenIds, owner) >= held + blockTokens,
    );
  }

  /**
   * Gives the owner a row, with as much of its beginning as can be reused.
   * @returns tokens that need not be computed; never all of them
   */
  admit(owner: RowOwner): number {
    const placement = this.#place(owner);
    const row = this.#rows[placement.row];
    row.tokenIds.length = this.#reusableTokens(row, row.tokenIds, owner);
    row.owner = owner;
    row.isReusable = true;
    row.salt = owner.cacheSalt;
    row.reservedTokens = row.tokenIds.length;
    owner.row = row.index;
    if (placement.copyFrom !== null) this.#copyPrefix(this.#rows[placement.copyFrom], row, placement.reusedTokens);
    return row.tokenIds.length;
  }

  /**
   * Makes room for the first `numTokens` tokens of an owner.
   * @returns false when the memory does not suffice even without any cached content
   */
  reserve(owner: RowOwner, numTokens: number): boolean {
    return this.#reserveInRow(this.#rowOf(owner), numTokens);
  }

  /** Says that the next `numTokens` tokens of an owner have been computed. */
  commit(owner: RowOwner, numTokens: number): void {
    const row = this.#rowOf(owner);
    const start = row.tokenIds.length;
    assertInvariant(start + numTokens <= row.reservedTokens, 'only reserved cache space is written');
    for (let i = start; i < start + numTokens; i++) row.tokenIds.push(owner.tokenIds[i]);
  }

  /** Takes the row from its owner. @param keepsContent whether what was computed may be reused */
  release(owner: RowOwner, {keepsContent}: {keepsContent: boolean}): void {
    const row = this.#rowOf(owner);
    row.owner = null;
    row.reservedTokens = 0;
    row.lastUsed = ++this.#clock;
    owner.row = -1;
    if (!keepsContent || !row.isReusable || !this.#enablePrefixCaching) row.tokenIds.length = 0;
  }

  /** Nothing that is computed by now serves another sequence; memory is given back when it is wanted. */
  forgetContent(): void {
    for (const row of this.#ownedRows()) row.isReusable = false;
    for (const row of this.#freeRows()) row.tokenIds.length = 0;
  }

  /** Brings the rows of these owners together; afterwards they are neighbours in some order. */
  gather(owners: readonly RowOwner[]): void {
    const isDecoding = new Set(owners.map((owner) => owner.row));
    const {isGatheredAtFirstRow} = this.#store;
    if (areGathered(isDecoding, isGatheredAtFirstRow)) return;
    const rows = this.#rows.map((row) => ({isDecoding: isDecoding.has(row.index), numTokens: row.tokenIds.length}));
    const moves = planWindow(rows, isGatheredAtFirstRow);
    for (const move of moves) this.#move(move);
  }

  /** @throws Error that names the invariant which does not hold */
  checkInvariants(): void {
    const used = this.#ownedRows().length;
    const cached = this.#freeRows().filter((row) => row.tokenIds.length > 0).length;
    const free = this.#freeRows().filter((row) => row.tokenIds.length === 0).length;
    assertInvariant(free + cached + used === this.#store.numRows, 'free + cached + used rows = all rows');
    const writtenBlocks = sumOf(this.#rows, (row) => row.numBlocks);
    assertInvariant(writtenBlocks === this.#writtenBlocks, 'the count of written cache blocks is right');
    assertInvariant(writtenBlocks <= this.#maxBlocks, 'written cache blocks stay within the budget');
    for (const row of this.#rows) this.#checkRow(row);
  }

  #checkRow({index, owner, tokenIds, numBlocks, reservedTokens}: Row): void {
    assertInvariant(tokenIds.length <= this.#store.rowCapacity, 'a row holds at most its capacity');
    assertInvariant(blocksOf(tokenIds.length) <= numBlocks, 'the content of a row lies in written blocks');
    assertInvariant(owner === null || owner.row === index, 'a row and its owner name each other');
    assertInvariant(owner !== null || reservedTokens === 0, 'a row without owner reserves nothing');
    assertInvariant(
      owner === null || tokenIds.every((id, position) => id === owner.tokenIds[position]),
      "a row holds the beginning of its owner's tokens",
    );
  }

  #place(owner: RowOwner): Placement {
    return choosePlacement(this.#candidatesFor(owner), owner.tokenIds.length);
  }

  #candidatesFor(owner: RowOwner): RowCandidate[] {
    const byAge = this.#freeRows().sort((a, b) => a.lastUsed - b.lastUsed);
    const windowEdges = this.#edgesOfUsedRows();
    return this.#rows.map((row) => ({
      row: row.index,
      isFree: row.owner === null,
      commonTokens: this.#reusableTokens(row, row.tokenIds, owner),
      otherTokens: row.tokenIds.length - matchingTokens(row, row.tokenIds, owner),
      recency: row.owner === null ? byAge.indexOf(row) / byAge.length : 1,
      isAtWindow: windowEdges === null || windowEdges.includes(row.index),
    }));
  }

  /** The rows next to the longest stretch of used ones, of which the decode window is a part; null when none is used. */
  #edgesOfUsedRows(): number[] | null {
    const stretches: {start: number; end: number}[] = [];
    for (const {index} of this.#ownedRows()) {
      const last = stretches.at(-1);
      if (last?.end === index) last.end++;
      else stretches.push({start: index, end: index + 1});
    }
    if (stretches.length === 0) return null;
    const longest = stretches.reduce((best, next) => (next.end - next.start > best.end - best.start ? next : best));
    return [longest.start - 1, longest.end];
  }

  /** How many leading tokens of the sequence are in the given list of a row and may be reused. */
  #reusableTokens(row: Row, tokenIds: readonly number[], owner: RowOwner): number {
    if (!this.#enablePrefixCaching || !owner.mayReusePrefix) return 0;
    const reusable = Math.min(owner.tokenIds.length - minChunkTokens, matchingTokens(row, tokenIds, owner));
    // What is missing of a prompt is computed as a chunk, so it is no single token either.
    return Math.max(0, reusable === owner.numPromptTokens - 1 ? reusable - 1 : reusable);
  }

  #copyPrefix(source: Row, target: Row, numTokens: number): void {
    source.lastUsed = ++this.#clock;
    if (!this.#reserveInRow(target, numTokens)) return;
    // Making room may have taken the tail of the source.
    const numCopied = Math.min(numTokens, source.tokenIds.length);
    if (numCopied <= target.tokenIds.length) return;
    this.#store.copyRow(source.index, target.index, numCopied);
    target.tokenIds = source.tokenIds.slice(0, numCopied);
  }

  #move({from, to}: RowMove): void {
    const [source, target] = [this.#rows[from], this.#rows[to]];
    if (target.tokenIds.length === 0) this.#store.copyRow(from, to, source.tokenIds.length);
    else this.#store.swapRows(from, source.tokenIds.length, to, target.tokenIds.length);
    exchangeContent(source, target);
    for (const row of [source, target]) this.#setBlocks(row, Math.max(row.numBlocks, neededBlocks(row)));
    if (this.#writtenBlocks > this.#maxBlocks) for (const row of [source, target]) this.#giveBackLeftovers(row);
  }

  #reserveInRow(row: Row, numTokens: number): boolean {
    assertInvariant(numTokens <= this.#store.rowCapacity, 'a sequence is no longer than a row');
    const numNewBlocks = blocksOf(numTokens) - row.numBlocks;
    const previous = row.reservedTokens;
    row.reservedTokens = Math.max(previous, numTokens);
    if (numNewBlocks <= 0) return true;
    if (!this.#makeRoom(numNewBlocks)) {
      row.reservedTokens = previous;
      return false;
    }
    this.#setBlocks(row, Math.max(row.numBlocks, blocksOf(numTokens)));
    return true;
  }

  /** Frees memory until `numBlocks` more can be written: leftovers first, then cached content, oldest first. */
  #makeRoom(numBlocks: number): boolean {
    const missingBlocks = () => this.#writtenBlocks + numBlocks - this.#maxBlocks;
    for (const row of this.#rows) if (missingBlocks() > 0) this.#giveBackLeftovers(row);
    for (const row of this.#freeRows().sort((a, b) => a.lastUsed - b.lastUsed)) {
      if (missingBlocks() <= 0) break;
      const numTrimmed = Math.max(missingBlocks() * blockTokens, trimTokens);
      row.tokenIds.length = Math.max(0, row.tokenIds.length - numTrimmed);
      this.#giveBackLeftovers(row);
    }
    return missingBlocks() <= 0;
  }

  /** Gives back written blocks that hold nothing and are not reserved. */
  #giveBackLeftovers(row: Row): void {
    const needed = neededBlocks(row);
    if (row.numBlocks <= needed) return;
    this.#store.releaseRow(row.index, Math.max(row.tokenIds.length, row.reservedTokens));
    this.#setBlocks(row, needed);
  }

  #rowOf(owner: RowOwner): Row {
    const row = this.#rows[owner.row];
    assertInvariant(row?.owner === owner, 'a row and its owner name each other');
    return row;
  }

  #ownedRows(): Row[] {
    return this.#rows.filter((row) => row.owner !== null);
  }

  #freeRows(): Row[] {
    return this.#rows.filter((row) => row.owner === null);
  }

  #setBlocks(row: Row, numBlocks: number): void {
    this.#writtenBlocks += numBlocks - row.numBlocks;
    row.numBlocks = numBlocks;
  }
}

/** How many leading tokens of the sequence are in the given list of a row; none under another salt. */
function matchingTokens(row: Row, tokenIds: readonly number[], owner: RowOwner): number {
  if (row.salt !== owner.cacheSalt || !row.isReusable) return 0;
  const limit = Math.min(tokenIds.length, owner.tokenIds.length);
  let length = 0;
  while (length < limit && tokenIds[length] === owner.tokenIds[length]) length++;
  return length;
}

function areGathered(rows: ReadonlySet<number>, isAtFirstRow: boolean): boolean {
  if (rows.size === 0) return true;
  const first = isAtFirstRow ? 0 : Math.min(...rows);
  return Math.max(...rows) - first === rows.size - 1;
}

/** Exchanges everything that belongs to the content of two rows; the written blocks stay with the memory. */
function exchangeContent(a: Row, b: Row): void {
  const {index: _index, numBlocks: _numBlocks, ...content} = a;
  Object.assign(a, {
    tokenIds: b.tokenIds,
    reservedTokens: b.reservedTokens,
    owner: b.owner,
    salt: b.salt,
    lastUsed: b.lastUsed,
    isReusable: b.isReusable,
  });
  Object.assign(b, content);
  for (const row of [a, b]) if (row.owner) row.owner.row = row.index;
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}
