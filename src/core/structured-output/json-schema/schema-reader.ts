/** What the readers of single types need of the reader of whole schemas. */
import type {GrammarBuilder, GrammarNode} from '../grammar.ts';
import type {AnyJson, JsonLayout} from '../json-text.ts';
import type {SchemaAlternatives} from './alternatives.ts';

export interface SchemaReader {
  readonly builder: GrammarBuilder;
  readonly layout: JsonLayout;
  readonly alternatives: SchemaAlternatives;
  /** Objects that name no properties are empty unless their schema says otherwise. */
  readonly isClosed: boolean;
  /** Any JSON at all. */
  readonly any: AnyJson;
  /** The grammar of a schema within this one; no option at all when no value can satisfy it. */
  read(schema: unknown, place: string): GrammarNode;
  /** The first reason that is noted is told when no text is left in the end. */
  noteImpossible(place: string, reason: string): void;
}
