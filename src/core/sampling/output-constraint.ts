/** Constraints of answers as plain data that crosses the process border. */

/** Where in the answer a constraint begins. */
export interface ConstraintBeginning {
  /** It begins after these tokens have come one after the other; none = with the first token. */
  startsAfter: number[];
  /** They open a header, which these tokens end: only then it begins. None = there is no header. */
  headerEnd: number[];
}

/** What an answer has to look like. The text has been checked. */
export interface OutputConstraint extends ConstraintBeginning {
  kind: ConstraintKind;
  /** A JSON schema, a regular expression, a JSON list of choices, a grammar or a structural tag. */
  text: string;
  /** JSON is written on one line, with one space after commas and colons. */
  disablesAnyWhitespace: boolean;
  /** A regular expression for the white space between the elements of JSON; null = spaces, tabs and new lines. */
  whitespacePattern: string | null;
  /** Objects have no properties but those that their schema names, unless it says so itself. */
  disablesAdditionalProperties: boolean;
}

export type ConstraintKind = 'json' | 'json_object' | 'regex' | 'choice' | 'grammar' | 'structural_tag';
