/** The terminals that Lark ships as `common`, as regular expressions (lark/grammars/common.lark). */
const integer = '[0-9]+';
const decimal = `(${integer}\\.(${integer})?|\\.${integer})`;
const exponent = `[eE][+-]?${integer}`;
const float = `(${integer}${exponent}|${decimal}(${exponent})?)`;
const number = `(${float}|${integer})`;
const name = '[_a-zA-Z][_a-zA-Z0-9]*';

export const commonTerminals: Readonly<Record<string, string>> = {
  DIGIT: '[0-9]',
  HEXDIGIT: '[a-fA-F0-9]',
  INT: integer,
  SIGNED_INT: `[+-]?${integer}`,
  DECIMAL: decimal,
  FLOAT: float,
  SIGNED_FLOAT: `[+-]?${float}`,
  NUMBER: number,
  SIGNED_NUMBER: `[+-]?${number}`,
  ESCAPED_STRING: '"([^"\\\\\\n]|\\\\[^\\n])*"',
  LCASE_LETTER: '[a-z]',
  UCASE_LETTER: '[A-Z]',
  LETTER: '[a-zA-Z]',
  WORD: '[a-zA-Z]+',
  CNAME: name,
  WS_INLINE: '[ \\t]+',
  WS: '[ \\t\\f\\r\\n]+',
  CR: '\\r',
  LF: '\\n',
  NEWLINE: '(\\r?\\n)+',
  SH_COMMENT: '#[^\\n]*',
  CPP_COMMENT: '//[^\\n]*',
  SQL_COMMENT: '--[^\\n]*',
};
