/**
 * A histogram whose values are counted in an array of numbers: observing is done for every token of every stream, and
 * prom-client's own looks labels up each time. It is registered there like any other metric and written by it.
 */

type Labels = Record<string, string>;

interface Sample {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

/** What a registry of prom-client reads. */
export interface CollectedHistogram {
  name: string;
  help: string;
  type: 'histogram';
  aggregator: 'sum';
  values: Sample[];
}

export class BucketHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: Series[] = [];

  /** @param bounds of the buckets, rising, without infinity */
  constructor({name, help}: {name: string; help: string}, bounds: readonly number[]) {
    this.name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** Samples under these labels, from now on on the page. To be called once for each set of labels. */
  open(labels: Labels): {add(value: number): void} {
    const series = new Series(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }

  /** Called by the registry for each page. */
  get(): CollectedHistogram {
    const values = this.#series.flatMap((series) => series.samples(this.name));
    return {name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values};
  }
}

class Series {
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** Of each bucket alone; the last one is what is above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > this.#bounds[index]!) index++;
    this.#counts[index]!++;
    this.#sum += value;
  }

  /** Counts of buckets are those of all values up to their bound. */
  samples(name: string): Sample[] {
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((bound, index) => {
      count += this.#counts[index]!;
      return {metricName: `${name}_bucket`, labels: {le: bound, ...this.#labels}, value: count};
    });
    const sum = {metricName: `${name}_sum`, labels: this.#labels, value: this.#sum};
    return [...buckets, sum, {metricName: `${name}_count`, labels: this.#labels, value: count}];
  }
}
