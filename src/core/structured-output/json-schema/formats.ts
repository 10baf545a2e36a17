/** Values of `format` as regular expressions; each allows some of the format's texts, and nothing else. */
import {refuse} from './schema-values.ts';

const day = '(0[1-9]|1[0-9]|2[0-8])';
const date = `[0-9]{4}-(0[1-9]|1[0-2])-${day}`;
const time = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])';
const label = '[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?';
const hostname = `${label}(\\.${label}){0,5}`;
const byte = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const hexGroup = '[0-9a-f]{1,4}';
const email = `[A-Za-z0-9_+-]{1,30}(\\.[A-Za-z0-9_+-]{1,30}){0,3}@${label}(\\.${label}){1,3}`;
const base64 = '([A-Za-z0-9+/]{4}){0,100}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
const path = '(/[A-Za-z0-9._~-]{1,40}){0,10}/?';

const formatPatterns: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}T${time}`,
  duration: 'P([0-9]{1,4}W|[0-9]{1,4}D(T[0-9]{1,4}H([0-9]{1,4}M([0-9]{1,4}S)?)?)?|T[0-9]{1,4}[HMS])',
  email,
  'idn-email': email,
  hostname,
  ipv4: `${byte}(\\.${byte}){3}`,
  ipv6: `${hexGroup}(:${hexGroup}){7}`,
  uri: `https?://${hostname}${path}`,
  url: `https?://${hostname}${path}`,
  'uri-reference': `(https?://${hostname})?${path}`,
  iri: `https?://${hostname}${path}`,
  'iri-reference': `(https?://${hostname})?${path}`,
  'idn-hostname': hostname,
  'json-pointer': '(/([A-Za-z0-9_.-]|~[01]){1,40}){0,10}',
  'relative-json-pointer': '(0|[1-9][0-9]{0,3})(#|(/([A-Za-z0-9_.-]|~[01]){1,40}){0,10})',
  byte: base64,
  base64,
  base64url: '[A-Za-z0-9_-]{0,400}',
  cidrv4: `${byte}(\\.${byte}){3}/([0-9]|[12][0-9]|3[0-2])`,
  ulid: '[0-7][0-9A-HJKMNP-TV-Z]{25}',
  uuid: '[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
};

const compactLabel = '[a-z0-9]{1,12}';
const compactHost = `${compactLabel}(\\.${compactLabel}){0,2}`;
const compactUri = `https?://${compactHost}(/[A-Za-z0-9._~-]{1,20}){0,3}`;
const compactEmail = `[A-Za-z0-9_+-]{1,20}@${compactLabel}(\\.${compactLabel}){1,2}`;

/** Shorter forms of long formats, for where they have to be put together with other rules. */
const compactPatterns: Readonly<Record<string, string>> = {
  email: compactEmail,
  'idn-email': compactEmail,
  hostname: compactHost,
  'idn-hostname': compactHost,
  uri: compactUri,
  url: compactUri,
  iri: compactUri,
  'uri-reference': compactUri,
  'iri-reference': compactUri,
};

/** Formats that speak of what a text is for, not of its form. */
const annotations: ReadonlySet<string> = new Set(['password', 'binary', 'textarea', 'markdown', 'html', 'text']);

export const isKnownFormat = (format: string): boolean => Object.hasOwn(formatPatterns, format);

/** @returns null when the format says nothing about the form */
export function formatPattern(format: string, place: string, isCompact = false): string | null {
  if (annotations.has(format)) return null;
  if (isCompact && Object.hasOwn(compactPatterns, format)) return compactPatterns[format]!;
  if (isKnownFormat(format)) return formatPatterns[format]!;
  const known = Object.keys(formatPatterns).join(', ');
  return refuse(place, `format ${JSON.stringify(format)} is not supported; known are ${known}`);
}
