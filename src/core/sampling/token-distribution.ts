/**
 * The probabilities of one row, without a sort: a histogram over the distance of each logit to the largest one.
 *
 * Tokens are put into bins by `distance = (largest - logit) / temperature`; each bin knows how many tokens and how much
 * probability mass it holds. top-k and top-p find the bin in which their border lies and look at single tokens only
 * there; the draw picks a bin by mass, then a token within it. One object is made for the engine and loaded again for
 * every row; nothing is allocated per row.
 *
 * Most tokens of a model are so unlikely that together they count for next to nothing, yet they are what takes time. So
 * at first only the head is binned, and of the tail no more is known than a bound of its mass. A draw over both that
 * falls into the head is settled; one that falls behind it (rarely) has the tail computed, and is repeated when it lies
 * behind the tail's true mass too. That is rejection sampling: every token has exactly its probability. The filters do
 * the same: a border of top-k behind the head is looked for only when a draw gets there, and the border of top-p, which hangs
 * on the tail's mass, only when a draw falls between those for the least and for the most that the tail can weigh.
 */

/** Bins for each unit of distance. */
const binsPerUnit = 32;
/**
 * The head: within a factor of a million of the most likely token. The rest of 50,000 then weighs 0.04 at most. It ends
 * with a bin, so that the tail begins with one.
 */
const headDistance = 14 - 1e-9;
/** exp(-44) is 8e-20: with 50,000 such tokens the mass left out is far below what a draw can resolve. */
const maxBinnedDistance = 44;
const numBins = binsPerUnit * maxBinnedDistance + 1;

/** exp(-distance) at the middle of each bin: from there a short polynomial reaches every distance in the bin. */
const middleOfBin = Float64Array.from({length: numBins}, (_, bin) => (bin + 0.5) / binsPerUnit);
const expAtMiddle = middleOfBin.map((distance) => Math.exp(-distance));

/** exp(-distance) for a distance in the given bin; relative error below 1e-8. */
function weightOf(distance: number, bin: number): number {
  const rest = distance - middleOfBin[bin];
  return expAtMiddle[bin] * (1 - rest * (1 - rest * (1 / 2 - rest * (1 / 6))));
}

/** The last token that is kept. */
interface Border {
  bin: number;
  logit: number;
  /** Of the tokens with exactly this logit, how many are kept, those with the lowest ids first. */
  numEqual: number;
}

export class TokenDistribution {
  /** Tokens of each bin; nearest to the largest logit first. */
  readonly #counts = new Int32Array(numBins);
  /** Sum of exp(-distance) of each bin's tokens, added up in order of token id. */
  readonly #masses = new Float64Array(numBins);
  /** Space for the logits of one bin. */
  readonly #binLogits: Float32Array;
  /** Space for #ids. */
  readonly #idSpace: Int32Array;
  #logits: Float32Array = new Float32Array(0);
  #largest = 0;
  #inverseTemperature = 1;

  // A token is kept when its distance is at most #keptDistance and it is not beyond the border: its logit is above
  // #borderLogit, or equal with an id up to #borderId. Bins behind #lastBin are out as a whole.
  // Binned are the kept tokens up to #binnedDistance, #tailBound is the most that the others can weigh; all binned
  // tokens are among #ids (ascending).
  #maxDistance = 0;
  #keptDistance = 0;
  #binnedDistance = 0;
  #tailBound = 0;
  #borderLogit = 0;
  #borderId = 0;
  #lastBin = 0;
  #ids: Int32Array;
  /** top-k whose border lies somewhere in the tail and has not been looked for; 0 = none. */
  #openCount = 0;
  /** top-k; 0 = all. */
  #count = 0;
  /** top-p whose border is put where it can be at most: up to the sure token it cannot be less. 1 = it is where it belongs. */
  #openShare = 1;
  #sureLogit = 0;
  #sureId = 0;

  constructor(vocabSize: number) {
    this.#binLogits = new Float32Array(vocabSize);
    this.#idSpace = new Int32Array(vocabSize);
    this.#ids = this.#idSpace;
  }

  /**
   * Takes over a row; every token with a finite logit is kept at first.
   * @param logits one row; only read, and until the draw
   * @param largest the largest of them, finite
   * @param temperature above 0
   * @param maxDistance leave out tokens whose scaled logit is further below the largest than this
   */
  load(logits: Float32Array, largest: number, temperature: number, maxDistance = Number.POSITIVE_INFINITY): void {
    this.#logits = logits;
    this.#largest = largest;
    this.#inverseTemperature = 1 / temperature;
    this.#maxDistance = maxDistance;
    this.#keptDistance = Math.min(maxDistance, maxBinnedDistance);
    this.#count = 0;
    this.#keepAll();
  }

  /** Keeps the `k` most likely tokens, and those as likely as the k-th (as vLLM: vllm/v1/sample/ops/topk_topp_sampler.py). */
  keepMostLikely(k: number): void {
    this.#count = k;
    if (!this.#cutAtCount(k) && this.#tailBound > 0) this.#openCount = k;
  }

  /**
   * Keeps the smallest set of most likely tokens whose share of the kept mass reaches `share`; of equally likely tokens
   * at the border those with the lowest ids.
   */
  keepMass(share: number): void {
    const binned = this.#binnedMass();
    const least = this.#borderAt(share * binned);
    const most = this.#tailBound === 0 ? least : this.#borderAt(share * (binned + this.#tailBound));
    if (least === null || most === null) return this.#cutAt(this.#borderOfMass(share));
    this.#cutAt(most);
    if (isSame(least, most)) return;
    this.#openShare = share;
    this.#sureLogit = least.logit;
    this.#sureId = this.#idOfOccurrence(least.logit, least.numEqual);
  }

  #keepAll(): void {
    this.#borderLogit = Number.NEGATIVE_INFINITY;
    this.#borderId = this.#logits.length;
    this.#lastBin = numBins - 1;
    this.#openCount = 0;
    this.#openShare = 1;
    this.#fillBins(Math.min(this.#keptDistance, headDistance));
  }

  /** Puts the border of top-p where the tail's true mass has it. */
  #settleShare(): void {
    const share = this.#openShare;
    this.#keepAll();
    if (this.#count > 0) this.keepMostLikely(this.#count);
    this.#cutAt(this.#borderOfMass(share));
  }

  /** The border of a share of the mass, with the tail's true mass; null = everything is kept. */
  #borderOfMass(share: number): Border | null {
    if (this.#openCount > 0) this.#resolveTail();
    const target = share * (this.#binnedMass() + this.#tailMass());
    if (target <= this.#binnedMass()) return this.#borderAt(target);
    this.#resolveTail();
    return this.#borderAt(share * this.#binnedMass());
  }

  /**
   * Picks a kept token.
   * @param nextUniform gives random numbers in [0, 1); one is used nearly always, two at most
   * @returns its id
   */
  draw(nextUniform: () => number): number {
    for (;;) {
      const position = nextUniform() * (this.#binnedMass() + this.#tailBound);
      if (position >= this.#binnedMass()) this.#resolveTail();
      if (position >= this.#binnedMass()) continue;
      const id = this.#tokenAt(position);
      if (this.#openShare === 1 || this.#isSure(id) || this.keeps(id)) return id;
    }
  }

  #isSure(id: number): boolean {
    const logit = this.#logits[id]!;
    return logit > this.#sureLogit || (logit === this.#sureLogit && id <= this.#sureId);
  }

  /** Whether the filters left a token in, however unlikely it is. */
  keeps(id: number): boolean {
    if (this.#openShare < 1) this.#settleShare();
    if (this.#openCount > 0) this.#resolveTail();
    const logit = this.#logits[id];
    const distance = (this.#largest - logit) * this.#inverseTemperature;
    if (!(distance <= this.#maxDistance)) return false;
    return logit > this.#borderLogit || (logit === this.#borderLogit && id <= this.#borderId);
  }

  /** Hot loop over the vocabulary. NaN and -Infinity fail the comparison and stay out. */
  #fillBins(maxDistance: number): void {
    const counts = this.#counts.fill(0);
    const masses = this.#masses.fill(0);
    const logits = this.#logits;
    const largest = this.#largest;
    const inverseTemperature = this.#inverseTemperature;
    const lowest = largest - (maxDistance + 0.001) / inverseTemperature;
    const ids = this.#idSpace;
    let numBinned = 0;
    for (let id = 0; id < logits.length; id++) {
      if (!(logits[id] >= lowest)) continue;
      const distance = (largest - logits[id]) * inverseTemperature;
      if (distance > maxDistance) continue;
      const bin = (distance * binsPerUnit) | 0;
      counts[bin]++;
      masses[bin] += weightOf(distance, bin);
      ids[numBinned++] = id;
    }
    this.#ids = ids.subarray(0, numBinned);
    this.#binnedDistance = maxDistance;
    this.#tailBound = maxDistance < this.#keptDistance ? (logits.length - numBinned) * Math.exp(-maxDistance) : 0;
  }

  /** Bins all kept tokens, where that has not been done. */
  #resolveTail(): void {
    if (this.#tailBound === 0) return;
    this.#fillBins(this.#keptDistance);
    if (this.#openCount > 0) this.#cutAtCount(this.#openCount);
    this.#openCount = 0;
  }

  /** What the kept tokens behind the binned ones weigh. Hot loop over the vocabulary. */
  #tailMass(): number {
    if (this.#tailBound === 0) return 0;
    const logits = this.#logits;
    const largest = this.#largest;
    const inverseTemperature = this.#inverseTemperature;
    const [binnedDistance, keptDistance] = [this.#binnedDistance, this.#keptDistance];
    let mass = 0;
    for (let id = 0; id < logits.length; id++) {
      const distance = (largest - logits[id]) * inverseTemperature;
      if (distance > binnedDistance && distance <= keptDistance) {
        mass += weightOf(distance, (distance * binsPerUnit) | 0);
      }
    }
    return mass;
  }

  /** @returns false when fewer than `k` tokens are binned */
  #cutAtCount(k: number): boolean {
    const counts = this.#counts;
    let numBefore = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) {
      if (numBefore + counts[bin] >= k) {
        this.#narrowTo(bin);
        this.#cutAtRank(bin, k - numBefore);
        return true;
      }
      numBefore += counts[bin];
    }
    return false;
  }

  /** The token at a position within the binned mass. */
  #tokenAt(position: number): number {
    const masses = this.#masses;
    let rest = position;
    let lastFilled = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) {
      if (masses[bin] === 0) continue;
      if (rest < masses[bin]) return this.#tokenInBin(bin, rest);
      rest -= masses[bin];
      lastFilled = bin;
    }
    return this.#tokenInBin(lastFilled, Number.POSITIVE_INFINITY);
  }

  /** Leaves out everything behind a bin, so that later passes see few tokens. */
  #narrowTo(bin: number): void {
    const logits = this.#logits;
    const lowest = this.#largest - (bin + 1.01) / (binsPerUnit * this.#inverseTemperature);
    let count = 0;
    const [ids, idSpace] = [this.#ids, this.#idSpace];
    for (let i = 0; i < ids.length; i++) if (logits[ids[i]] >= lowest) idSpace[count++] = ids[i];
    this.#ids = idSpace.subarray(0, count);
    this.#lastBin = bin;
    this.#tailBound = 0;
    this.#openCount = 0;
  }

  /** Puts the border at the token of the given rank (1 = most likely) within a bin; all that are as likely are kept. */
  #cutAtRank(bin: number, rank: number): void {
    const logits = this.#sortedLogitsOf(bin);
    this.#cut({bin, logit: logits[logits.length - rank]!, numEqual: Number.POSITIVE_INFINITY});
  }

  /** The token that brings the binned mass to `target`; null = all of them do not suffice. */
  #borderAt(target: number): Border | null {
    const masses = this.#masses;
    let massBefore = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) {
      if (masses[bin]! > 0 && massBefore + masses[bin]! >= target) return this.#borderInBin(bin, target - massBefore);
      massBefore += masses[bin]!;
    }
    return null;
  }

  /** The token that brings the bin's mass to `target`. */
  #borderInBin(bin: number, target: number): Border {
    const logits = this.#sortedLogitsOf(bin);
    let index = logits.length;
    let mass = 0;
    do {
      index--;
      mass += weightOf((this.#largest - logits[index]!) * this.#inverseTemperature, bin);
    } while (mass < target && index > 0);
    const logit = logits[index]!;
    return {bin, logit, numEqual: logits.lastIndexOf(logit) - index + 1};
  }

  /** Leaves out what is behind the border; null = nothing. */
  #cutAt(border: Border | null): void {
    if (border === null) return;
    this.#narrowTo(border.bin);
    this.#cut(border);
  }

  /** Leaves out what is behind the border in its bin. */
  #cut({bin, logit, numEqual}: Border): void {
    this.#borderLogit = logit;
    this.#borderId =
      numEqual === Number.POSITIVE_INFINITY ? this.#logits.length : this.#idOfOccurrence(logit, numEqual);
    let mass = 0;
    let count = 0;
    this.#forEachKeptIn(bin, (_id, _logit, weight) => {
      mass += weight;
      count++;
      return false;
    });
    this.#masses[bin] = mass;
    this.#counts[bin] = count;
  }

  #tokenInBin(bin: number, target: number): number {
    let rest = target;
    let picked = 0;
    this.#forEachKeptIn(bin, (id, _logit, weight) => {
      picked = id;
      rest -= weight;
      return rest < 0;
    });
    return picked;
  }

  /** The kept logits of one bin, ascending, in the scratch space. */
  #sortedLogitsOf(bin: number): Float32Array {
    let count = 0;
    this.#forEachKeptIn(bin, (_id, logit) => {
      this.#binLogits[count++] = logit;
      return false;
    });
    return this.#binLogits.subarray(0, count).sort();
  }

  /** The id of the n-th token (n from 1) with exactly this logit. */
  #idOfOccurrence(logit: number, n: number): number {
    let id = -1;
    for (let seen = 0; seen < n; seen++) id = this.#logits.indexOf(logit, id + 1);
    return id;
  }

  /** Visits the kept tokens of a bin in order of id until the visitor says true. */
  #forEachKeptIn(bin: number, visit: (id: number, logit: number, weight: number) => boolean): void {
    const logits = this.#logits;
    // Limits a little wider than the bin let most tokens be passed over without computing their distance.
    const unit = 1 / (binsPerUnit * this.#inverseTemperature);
    const highest = this.#largest - (bin - 0.01) * unit;
    const lowest = Math.max(this.#largest - (bin + 1.01) * unit, this.#borderLogit);
    const ids = this.#ids;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i];
      const logit = logits[id];
      if (!(logit >= lowest) || logit > highest) continue;
      const distance = (this.#largest - logit) * this.#inverseTemperature;
      if (distance > this.#binnedDistance || ((distance * binsPerUnit) | 0) !== bin) continue;
      if (logit === this.#borderLogit && id > this.#borderId) continue;
      if (visit(id, logit, weightOf(distance, bin))) return;
    }
  }

  #binnedMass(): number {
    let total = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) total += this.#masses[bin];
    return total;
  }
}

function isSame(a: Border, b: Border): boolean {
  return a.bin === b.bin && a.logit === b.logit && a.numEqual === b.numEqual;
}
