/**
 * Flags whose value is a JSON object with keys of vLLM, such as `--speculative-config`: a flag takes any object, and what is
 * wrong inside is told in words, with the name of the key.
 */
import * as z from 'zod';

/** The schema of such a flag. @param inner a strict object; what it makes of the value is the value of the flag */
export function jsonFlag<Inner extends z.ZodObject>(inner: Inner) {
  return z.record(z.string(), z.unknown()).transform((value, context): z.output<Inner> => {
    const result = inner.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) context.addIssue(allowedInWords(issue, Object.keys(inner.shape)));
    return z.NEVER;
  });
}

/** Completes the sentence "allowed: …". */
function allowedInWords(issue: z.core.$ZodIssue, keys: readonly string[]): string {
  const key = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') return `the keys ${keys.join(', ')}; not ${issue.keys.join(', ')}`;
  if (issue.code === 'too_big') return `${key} of at most ${issue.maximum}`;
  if (issue.code === 'too_small') return `${key} of at least ${issue.minimum}`;
  if (issue.message.endsWith('received undefined')) return `an object with ${key}, which is missing`;
  return key === '' ? issue.message : `${key}: ${issue.message}`;
}
