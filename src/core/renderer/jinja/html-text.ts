/** Plain text of HTML, as markupsafe's `striptags`: tags and comments removed, white space collapsed, entities read. */

import {strip} from '../../util/python-text.ts';
import {spaceRun} from './character-classes.ts';

/** The entities of HTML 2 to 4 that texts use; others stay as they are. */
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  sect: '§',
  para: '¶',
  deg: '°',
  plusmn: '±',
  times: '×',
  divide: '÷',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
};

export function stripTags(html: string): string {
  const text = strip(withoutTags(html)).split(spaceRun).join(' ');
  return text.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|(\w+));?/g, readEntity);
}

/** An unclosed tag and all after it stay. */
function withoutTags(html: string): string {
  let result = '';
  let position = 0;
  for (;;) {
    const start = html.indexOf('<', position);
    if (start < 0) return result + html.slice(position);
    const [mark, from] = html.startsWith('<!--', start) ? ['-->', start + 4] : ['>', start];
    const end = html.indexOf(mark, from);
    if (end < 0) return result + html.slice(position);
    result += html.slice(position, start);
    position = end + mark.length;
  }
}

function readEntity(source: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return entities[name] ?? source;
  const codePoint = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff && (codePoint < 0xd800 || codePoint > 0xdfff);
  return isCharacter ? String.fromCodePoint(codePoint) : '\ufffd';
}
