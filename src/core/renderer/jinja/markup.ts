/** Escaping for HTML as markupsafe does it: what is escaped already passes, all else becomes text first. */
import {Markup} from './objects.ts';
import {str} from './text.ts';
import type {Value} from './values.ts';

const entities: Readonly<Record<string, string>> = {'&': '&amp;', '>': '&gt;', '<': '&lt;', "'": '&#39;', '"': '&#34;'};

export function escapeText(text: string): string {
  return text.replace(/[&<>'"]/g, (character) => entities[character]!);
}

/** `markupsafe.escape(value)` */
export function escapeMarkup(value: Value): Markup {
  return value instanceof Markup ? value : new Markup(escapeText(str(value)));
}

/** `soft_str(value)`: text that stays escaped when it is. */
export function softText(value: Value): string | Markup {
  return value instanceof Markup ? value : str(value);
}

/** The result of a text operation in the kind of the text that it came from. */
export function likeSource(source: string | Markup, text: string): string | Markup {
  return source instanceof Markup ? new Markup(text) : text;
}
