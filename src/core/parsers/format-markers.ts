/**
 * The texts that formats look for. A tokenizer may have some of them as special tokens, which must then stay in the text
 * while all other special tokens are left out of it.
 */

import type {OutputFormats} from './create-output-parser.ts';
import {parserMachines} from './create-output-parser.ts';
import type {Mode} from './format.ts';
import type {ParserContext} from './output-parser.ts';

/** Every marker that reading an answer can depend on. */
export function markersOf(formats: OutputFormats, context: ParserContext): ReadonlySet<string> {
  const definitions = parserMachines(formats, context);
  return new Set(definitions.flatMap(({modes}) => Object.values(modes).flatMap(markersOfMode)));
}

function markersOfMode(mode: Mode): readonly string[] {
  return mode.kind === 'reader' ? (mode.create.markers ?? []) : Object.keys(mode.on ?? {});
}

/** True when a token is a marker or a part of one. */
export function isPartOfMarker(token: string, markers: ReadonlySet<string>): boolean {
  return markers.has(token) || [...markers].some((marker) => marker.includes(token));
}
