/**
 * The probabilities of one row, without a sort: a histogram over the distance of each logit to the largest one.
 *
 * Tokens are put into bins by `distance = (largest - logit) / temperature`; each bin knows how many tokens and how much
 * probability mass it holds. top-k and top-p find the bin in which their border lies and look at single tokens only
 * there; the draw picks a bin by mass, then a token within it. One object is made for the engine and loaded again for
 * every row; nothing is allocated per row.
 */

/** Bins for each unit of distance. */
const binsPerUnit = 32;
/** exp(-44) is 8e-20: with 50,000 such tokens the mass left out is far below what a draw can resolve. */
const maxBinnedDistance = 44;
const numBins = binsPerUnit * maxBinnedDistance;

/** exp(-distance) at the middle of each bin: from there a short polynomial reaches every distance in the bin. */
const middleOfBin = Float64Array.from({length: numBins}, (_, bin) => (bin + 0.5) / binsPerUnit);
const expAtMiddle = middleOfBin.map((distance) => Math.exp(-distance));

/** exp(-distance) for a distance in the given bin; relative error below 1e-8. */
function weightOf(distance: number, bin: number): number {
  const rest = distance - middleOfBin[bin];
  return expAtMiddle[bin] * (1 - rest * (1 - rest * (1 / 2 - rest * (1 / 6))));
}

export class TokenDistribution {
  /** Tokens of each bin; nearest to the largest logit first. */
  readonly #counts = new Int32Array(numBins);
  /** Sum of exp(-distance) of each bin's tokens, added up in order of token id. */
  readonly #masses = new Float64Array(numBins);
  /** Space for the logits of one bin. */
  readonly #binLogits: Float32Array;
  readonly #allIds: Int32Array;
  /** Space for the ids up to #lastBin, once a border is known. */
  readonly #nearIds: Int32Array;
  #logits: Float32Array = new Float32Array(0);
  #largest = 0;
  #inverseTemperature = 1;

  // A token is kept when its distance is at most #maxDistance and it is not beyond the border: its logit is above
  // #borderLogit, or equal with an id up to #borderId. Bins behind #lastBin are out as a whole. All kept tokens are
  // among #ids (ascending).
  #ids: Int32Array;
  #maxDistance = 0;
  #borderLogit = 0;
  #borderId = 0;
  #lastBin = 0;

  constructor(vocabSize: number) {
    this.#binLogits = new Float32Array(vocabSize);
    this.#allIds = Int32Array.from({length: vocabSize}, (_, id) => id);
    this.#nearIds = new Int32Array(vocabSize);
    this.#ids = this.#allIds;
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
    this.#maxDistance = Math.min(maxDistance, maxBinnedDistance - 1e-9);
    this.#borderLogit = Number.NEGATIVE_INFINITY;
    this.#borderId = logits.length;
    this.#lastBin = numBins - 1;
    this.#ids = this.#allIds;
    this.#fillBins();
  }

  /** Keeps the `k` most likely tokens, and those as likely as the k-th (as vLLM: vllm/v1/sample/ops/topk_topp_sampler.py). */
  keepMostLikely(k: number): void {
    const counts = this.#counts;
    let numBefore = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) {
      if (numBefore + counts[bin] >= k) {
        this.#narrowTo(bin);
        this.#cutAtRank(bin, k - numBefore);
        return;
      }
      numBefore += counts[bin];
    }
  }

  /**
   * Keeps the smallest set of most likely tokens whose share of the kept mass reaches `share`; of equally likely tokens
   * at the border those with the lowest ids.
   */
  keepMass(share: number): void {
    const target = share * this.#totalMass();
    const masses = this.#masses;
    let massBefore = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) {
      if (massBefore + masses[bin] >= target) {
        this.#narrowTo(bin);
        this.#cutAtMass(bin, target - massBefore);
        return;
      }
      massBefore += masses[bin];
    }
  }

  /**
   * Picks a kept token.
   * @param uniform random number in [0, 1)
   * @returns its id
   */
  draw(uniform: number): number {
    const masses = this.#masses;
    let rest = uniform * this.#totalMass();
    let lastFilled = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) {
      if (masses[bin] === 0) continue;
      if (rest < masses[bin]) return this.#drawInBin(bin, rest);
      rest -= masses[bin];
      lastFilled = bin;
    }
    return this.#drawInBin(lastFilled, Number.POSITIVE_INFINITY);
  }

  /** Hot loop: one pass over the vocabulary. NaN and -Infinity fail the comparison and stay out. */
  #fillBins(): void {
    const counts = this.#counts.fill(0);
    const masses = this.#masses.fill(0);
    const logits = this.#logits;
    const largest = this.#largest;
    const inverseTemperature = this.#inverseTemperature;
    const maxDistance = this.#maxDistance;
    for (let id = 0; id < logits.length; id++) {
      const distance = (largest - logits[id]) * inverseTemperature;
      if (!(distance <= maxDistance)) continue;
      const bin = (distance * binsPerUnit) | 0;
      counts[bin]++;
      masses[bin] += weightOf(distance, bin);
    }
  }

  /** Leaves out everything behind a bin, so that later passes see few tokens. */
  #narrowTo(bin: number): void {
    const logits = this.#logits;
    const lowest = this.#largest - (bin + 1.01) / (binsPerUnit * this.#inverseTemperature);
    let count = 0;
    const [ids, nearIds] = [this.#ids, this.#nearIds];
    for (let i = 0; i < ids.length; i++) if (logits[ids[i]] >= lowest) nearIds[count++] = ids[i];
    this.#ids = this.#nearIds.subarray(0, count);
    this.#lastBin = bin;
  }

  /** Puts the border at the token of the given rank (1 = most likely) within a bin. */
  #cutAtRank(bin: number, rank: number): void {
    const logits = this.#sortedLogitsOf(bin);
    this.#cut(bin, logits[logits.length - rank], this.#logits.length);
  }

  /** Puts the border behind the token that brings the bin's mass to `target`. */
  #cutAtMass(bin: number, target: number): void {
    const logits = this.#sortedLogitsOf(bin);
    let index = logits.length;
    let mass = 0;
    do {
      index--;
      mass += weightOf((this.#largest - logits[index]) * this.#inverseTemperature, bin);
    } while (mass < target && index > 0);
    const border = logits[index];
    const numEqualKept = logits.lastIndexOf(border) - index + 1;
    this.#cut(bin, border, this.#idOfOccurrence(border, numEqualKept));
  }

  #cut(bin: number, borderLogit: number, borderId: number): void {
    this.#borderLogit = borderLogit;
    this.#borderId = borderId;
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

  #drawInBin(bin: number, target: number): number {
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
      if (distance > this.#maxDistance || ((distance * binsPerUnit) | 0) !== bin) continue;
      if (logit === this.#borderLogit && id > this.#borderId) continue;
      if (visit(id, logit, weightOf(distance, bin))) return;
    }
  }

  #totalMass(): number {
    let total = 0;
    for (let bin = 0; bin <= this.#lastBin; bin++) total += this.#masses[bin];
    return total;
  }
}
