import {describe, expect, it} from 'vitest';
import {
  EngineDeadError,
  GenerationError,
  NotFoundError,
  OverloadedError,
  SchemaError,
  TemplateError,
  UnprocessableEntityError,
  UnsupportedError,
  ValidationError,
} from '../../../src/core/errors.ts';
import {chatStreamError, errorResponse} from '../../../src/server/error-response.ts';

describe('errorResponse', () => {
  it.each([
    [new SchemaError('s', {param: 'body.n', showsParameter: false}), 400, 'Bad Request', 'body.n', 's'],
    [new ValidationError('v'), 400, 'BadRequestError', null, 'v'],
    [new TemplateError('t'), 400, 'BadRequestError', null, 't'],
    [new NotFoundError('n', {param: 'model', showsParameter: false}), 404, 'NotFoundError', 'model', 'n'],
    [new UnprocessableEntityError('u'), 422, 'UnprocessableEntityError', null, 'u'],
    [new UnsupportedError('f', {param: 'echo', showsParameter: false}), 501, 'NotImplementedError', 'echo', 'f'],
    [new OverloadedError('o'), 503, 'Service Unavailable', null, 'o'],
    [
      new EngineDeadError('secret'),
      500,
      'InternalServerError',
      null,
      'The server had an error while processing your request.',
    ],
    [new GenerationError('secret'), 500, 'InternalServerError', null, 'Internal server error'],
    [new GenerationError('later', {retryable: true}), 503, 'ServiceUnavailableError', null, 'later'],
    [new TypeError('secret'), 500, 'InternalServerError', null, 'Internal server error'],
    ['thrown text', 500, 'InternalServerError', null, 'Internal server error'],
  ])('%s', (error, status, type, param, message) => {
    expect(errorResponse(error)).toEqual({status, body: {error: {message, type, param, code: status}}});
    expect(Object.keys(errorResponse(error).body.error)).toEqual(['message', 'type', 'param', 'code']);
  });

  it.each([
    [{param: 'cache_salt'}, 'bad (parameter=cache_salt)'],
    [{param: 'stop_token_ids', value: [49152]}, 'bad (parameter=stop_token_ids, value=[49152])'],
    [{param: 'temperature', value: 'hot'}, 'bad (parameter=temperature, value=hot)'],
    [{param: 'bad_words', value: ['x']}, "bad (parameter=bad_words, value=['x'])"],
    [{param: 'thinking_token_budget', value: true}, 'bad (parameter=thinking_token_budget, value=True)'],
    [{param: 'model', value: 1, showsParameter: false}, 'bad'],
    [{}, 'bad'],
  ])('appends %j', (options, message) => {
    expect(errorResponse(new ValidationError('bad', options)).body.error.message).toBe(message);
  });
});

describe('chatStreamError', () => {
  it('keeps the type of retryable errors, with their code', () => {
    const {error} = chatStreamError(new GenerationError('later', {retryable: true}));
    expect(error).toEqual({message: 'later', type: 'InternalServerError', param: null, code: 503});
  });
});
