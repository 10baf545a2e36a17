import {describe, expect, it} from 'vitest';
import {SchemaError} from '../../../../../src/core/errors.ts';
import {laxInt, laxList, laxObject, laxString} from '../../../../../src/core/protocol/openai/lax-types.ts';
import {parseWithSchema, schemaErrorMessage} from '../../../../../src/core/protocol/openai/schema-errors.ts';
import {parseJson} from '../../../../../src/core/util/parse-json.ts';

function errorOf(json: string): SchemaError {
  const schema = laxObject({name: laxString(), counts: laxList(laxInt({ge: 1}))});
  try {
    parseWithSchema(schema, parseJson(json));
  } catch (error) {
    return error as SchemaError;
  }
  throw new Error('accepted');
}

describe('type checks', () => {
  it('lists faults in the order of the fields, each with its place and value', () => {
    const error = errorOf('{"counts": [0, "x"], "name": 2.0}');
    expect(error).toBeInstanceOf(SchemaError);
    expect(error.param).toBe('body.name');
    expect(error.message.split('\n')).toEqual([
      '3 validation errors:',
      "  {'type': 'string_type', 'loc': 'body.name', 'msg': 'Input should be a valid string', 'input': '2.0'}",
      "  {'type': 'greater_than_equal', 'loc': 'body.counts.0', 'msg': 'Input should be greater than or equal to 1', 'input': '0', 'ctx': {'ge': 1}}",
      "  {'type': 'int_parsing', 'loc': 'body.counts.1', 'msg': 'Input should be a valid integer, unable to parse string as an integer', 'input': 'x'}",
    ]);
  });

  it('shows the enclosing object for a missing key, and lists and objects by their size', () => {
    expect(errorOf('{"counts": {"a": 1}}').message).toContain(
      "'loc': 'body.name', 'msg': 'Field required', 'input': '<dict of 1 items>'",
    );
    expect(errorOf('{"name": [1, 2], "counts": []}').message).toContain("'input': '<list of 2 items>'");
  });

  it('lists at most ten faults and counts the others', () => {
    const error = errorOf(`{"name": "a", "counts": [${Array(13).fill('null')}]}`);
    const lines = error.message.split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([12, '13 validation errors:', '  ...and 3 more errors']);
  });

  it('cuts long values and long entries', () => {
    const long = errorOf(`{"name": "a", "counts": "${'y'.repeat(300)}"}`).message;
    expect(long).toContain(`'${'y'.repeat(200)}...[truncated]'`);
    const entry = schemaErrorMessage([{type: 'missing', path: ['z'.repeat(2000)], input: {}}]).split('\n')[1];
    expect(entry).toHaveLength(2 + 1000 + '...[truncated]'.length);
  });
});
