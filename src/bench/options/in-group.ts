/** What options of `parlance bench` say about themselves; the keys are those of `cli/option-spec.ts`. */

export interface BenchOptionMeta {
  description: string;
  flag?: string;
  aliases?: string[];
  env?: string[];
  valueName?: string;
  firstPage?: boolean;
  secret?: boolean;
}

/** @returns a function that adds the heading of the help */
export function inGroup(group: string): (meta: BenchOptionMeta) => BenchOptionMeta & Record<string, unknown> {
  return (meta) => ({group, ...meta});
}
