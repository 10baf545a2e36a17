/** Facts about this process under the usual Prometheus names. The engine has a process of its own, which is not in here. */
import type {MetricRegistry} from './metric-registry.ts';

const FAMILIES: {name: string; help: string; read: () => number}[] = [
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the server process',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'process_start_time_seconds',
    help: 'Start of the server process, seconds since 1970',
    read: () => performance.timeOrigin / 1000,
  },
];

export function registerProcessMetrics(registry: MetricRegistry): void {
  for (const {name, help, read} of FAMILIES) {
    registry.gauge({name, help, labelNames: []}, () => [{labels: {}, value: read()}]);
  }
}
