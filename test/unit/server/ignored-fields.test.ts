import {describe, expect, it} from 'vitest';
import {CHAT_FIELDS} from '../../../src/core/protocol/openai/chat-completion.ts';
import {IgnoredFields} from '../../../src/server/ignored-fields.ts';
import {RecordingLogger} from '../../support/recording-logger.ts';

describe('ignored fields', () => {
  it('are named once, known ones never', () => {
    const logger = new RecordingLogger();
    const fields = new IgnoredFields(logger, CHAT_FIELDS);
    for (let count = 0; count < 3; count++) fields.report({messages: [], top_logprobs: 5, store: true, metadata: {}});
    expect(logger.lines.map(({level, message}) => `${level} ${message}`)).toEqual([
      'debug Request field store is unknown and ignored',
      'debug Request field metadata is unknown and ignored',
    ]);
  });

  it('are a warning when the answer was to be constrained', () => {
    const logger = new RecordingLogger();
    new IgnoredFields(logger, CHAT_FIELDS).report({guided_json: {}});
    expect(logger.lines[0]).toMatchObject({level: 'warn', fields: {field: 'guided_json'}});
  });

  it('do not fill the memory', () => {
    const logger = new RecordingLogger();
    const fields = new IgnoredFields(logger, CHAT_FIELDS);
    for (let index = 0; index < 500; index++) fields.report({[`x${index}`]: 1});
    expect(logger.lines).toHaveLength(100);
  });
});
