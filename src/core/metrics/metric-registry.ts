/**
 * Metric families in the Prometheus text format, over prom-client. As the Python client does, every counter, histogram
 * and summary is accompanied by `<name>_created`, the time of its first sample, and has a sample as soon as its labels
 * are known.
 */
import {Counter, Gauge, type Metric, Registry, Summary} from 'prom-client';
import {BucketHistogram} from './bucket-histogram.ts';

export type Labels = Record<string, string>;

export interface FamilySpec {
  name: string;
  help: string;
  labelNames: string[];
}

/** One sample set of a family, for fixed label values. */
export interface Cell {
  /** Adds to a counter, or observes a value of a histogram or summary. */
  add(value: number): void;
}

/** Cells of one family by their labels; asking for a cell makes it visible. */
export type Family = (labels: Labels) => Cell;

export class MetricRegistry {
  readonly #registry = new Registry();
  readonly #gatherers: (() => void)[] = [];

  /** @param spec with the `_total` of the name, as the page shows it */
  counter(spec: FamilySpec): Family {
    const counter = new Counter({...spec, registers: [this.#registry]});
    const created = this.#created(spec, spec.name.replace(/_total$/, ''));
    return cached((labels) => {
      created(labels);
      counter.inc(labels, 0);
      return this.#gathered((sum) => counter.inc(labels, sum));
    });
  }

  /** @param buckets upper bounds, without infinity */
  histogram(spec: FamilySpec, buckets: readonly number[]): Family {
    const histogram = new BucketHistogram(spec, buckets);
    // The registry asks for no more than a name and what the histogram collects.
    this.#registry.registerMetric(histogram as unknown as Metric);
    const created = this.#created(spec, spec.name);
    const open = cached((labels) => {
      created(labels);
      return histogram.open(labels);
    });
    if (spec.labelNames.length === 0) open({});
    return open;
  }

  /** Sum and count only. */
  summary(spec: FamilySpec): Family {
    const summary = new Summary({...spec, percentiles: [], registers: [this.#registry]});
    const created = this.#created(spec, spec.name);
    return cached((labels) => {
      created(labels);
      return {add: (value) => summary.observe(labels, value)};
    });
  }

  /** @param read called for each page: all samples of the family */
  gauge(spec: FamilySpec, read: () => {labels: Labels; value: number}[]): void {
    new Gauge({
      ...spec,
      registers: [this.#registry],
      collect() {
        for (const {labels, value} of read()) this.set(labels, value);
      },
    });
  }

  /** The page. */
  async render(): Promise<string> {
    for (const handOver of this.#gatherers) handOver();
    return withPythonBounds(await this.#registry.metrics());
  }

  /** Adding is done for every token, so sums are kept here until the page is made. */
  #gathered(handOver: (sum: number) => void): Cell {
    let sum = 0;
    this.#gatherers.push(() => {
      handOver(sum);
      sum = 0;
    });
    return {
      add(value) {
        sum += value;
      },
    };
  }

  #created({help, labelNames}: FamilySpec, name: string): (labels: Labels) => void {
    const gauge = new Gauge({name: `${name}_created`, help, labelNames, registers: [this.#registry]});
    return (labels) => gauge.set(labels, Date.now() / 1000);
  }
}

/** Bounds of buckets as Python prints floats, `1.0`: they are labels, and dashboards ask for them as texts. */
function withPythonBounds(page: string): string {
  return page.replace(/le="(\d+)"/g, 'le="$1.0"');
}

function cached(make: Family): Family {
  const cells = new Map<string, Cell>();
  return (labels) => {
    const key = JSON.stringify(Object.entries(labels).sort());
    const cell = cells.get(key) ?? make(labels);
    cells.set(key, cell);
    return cell;
  };
}
