/** What `--show-config` prints: every option, its value and where the value comes from. Secrets are stars. */
import type {Origin} from './normalize-argv.ts';
import type {OptionSpec} from './option-spec.ts';

export interface ResolvedOption {
  name: string;
  value: unknown;
  origin: Origin;
}

export function resolvedOptions(
  specs: readonly OptionSpec[],
  options: Readonly<Record<string, unknown>>,
  origins: Readonly<Record<string, Origin>>,
): ResolvedOption[] {
  return specs.map((spec) => ({
    name: spec.flag,
    value: shownValue(spec, options[spec.key]),
    origin: origins[spec.flag] ?? 'default',
  }));
}

/** Options that somebody set, as vLLM's `non-default args`. */
export function nonDefaultOptions(resolved: readonly ResolvedOption[]): Record<string, unknown> {
  const given = resolved.filter(({origin}) => origin !== 'default' && origin !== 'model');
  return Object.fromEntries(given.map(({name, value}) => [name, value]));
}

function shownValue(spec: OptionSpec, value: unknown): unknown {
  const isSet = value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
  return spec.isSecret && isSet ? '***' : value;
}

/** Lines of three aligned columns. */
export function configTable(resolved: readonly ResolvedOption[]): string[] {
  const rows = resolved.map(({name, value, origin}) => [name, valueText(value, origin), origin]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map(([name, value, origin]) => `${name!.padEnd(widths[0]!)}  ${value!.padEnd(widths[1]!)}  ${origin}`);
}

function valueText(value: unknown, origin: Origin): string {
  if (value === null) return origin === 'model' ? '(from the model)' : '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `{name: {value, origin}}`, for `--json`. */
export function configJson(resolved: readonly ResolvedOption[]): string {
  return JSON.stringify(Object.fromEntries(resolved.map(({name, value, origin}) => [name, {value, origin}])));
}
