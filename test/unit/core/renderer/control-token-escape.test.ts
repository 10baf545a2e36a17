import {describe, expect, it} from 'vitest';
import type {ControlToken} from '../../../../src/core/model/control-tokens.ts';
import {createControlTokenEscape} from '../../../../src/core/renderer/control-token-escape.ts';

const token = (text: string, isSpecial = true, strips = false): ControlToken => ({
  text,
  isSpecial,
  stripsLeft: strips,
  stripsRight: strips,
});

const tokens = [token('<s>'), token('<think>', false), token('<tool>', false), token('<pad>', true, true)];

/** A template that writes `<s>`, the message and, when it uses it, `<think>`. */
function render(
  message: string,
  {by = 'user', template = '<think>'}: {by?: 'user' | 'assistant'; template?: string} = {},
) {
  const escaping = createControlTokenEscape(tokens, {template, writtenText: message});
  return escaping.toParts(`<s>${escaping.protect(message, by)}<s>`);
}

describe('createControlTokenEscape', () => {
  it('makes one part of a prompt without control tokens in messages', () => {
    expect(render('hello')).toEqual([{kind: 'marked', text: '<s>hello<s>'}]);
  });

  it('makes text of special tokens, whoever wrote them', () => {
    const parts = [
      {kind: 'marked', text: '<s>'},
      {kind: 'plain', text: 'a<s>b'},
      {kind: 'marked', text: '<s>'},
    ];
    expect(render('a<s>b')).toEqual(parts);
    expect(render('a<s>b', {by: 'assistant'})).toEqual(parts);
  });

  it('makes text of other marks when the template uses them, but leaves the words of the assistant', () => {
    expect(render('<think>x')[1]).toEqual({kind: 'plain', text: '<think>x'});
    expect(render('<think>x', {by: 'assistant'})).toEqual([{kind: 'marked', text: '<s><think>x<s>'}]);
    expect(render('<tool>x')).toEqual([{kind: 'marked', text: '<s><tool>x<s>'}]);
  });

  it('breaks tokens that two texts would make together', () => {
    const escaping = createControlTokenEscape(tokens, {template: '', writtenText: ''});
    const [one, other] = escaping.protect(['a<', 's>b'], 'user');
    expect(escaping.toParts(`${one}${other}`)).toEqual([{kind: 'plain', text: 'a<s>b'}]);
  });

  it('leaves blanks with the token that takes them', () => {
    const escaping = createControlTokenEscape(tokens, {template: '', writtenText: ''});
    expect(escaping.toParts(`x <pad> ${escaping.protect('<s>', 'user')}`)).toEqual([
      {kind: 'marked', text: 'x <pad> '},
      {kind: 'plain', text: '<s>'},
    ]);
  });

  it('finds marks that a template wrote as JSON in ASCII', () => {
    const escaping = createControlTokenEscape(tokens, {template: '', writtenText: ''});
    const inAscii = JSON.stringify(escaping.protect('<s>', 'user')).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
    );
    expect(escaping.toParts(inAscii)).toEqual([{kind: 'plain', text: '"<s>"'}]);
  });

  it('reaches keys and values of objects at any depth', () => {
    const escaping = createControlTokenEscape(tokens, {template: '', writtenText: ''});
    const text = JSON.stringify(escaping.protect({'<s>': [{a: '<s>'}, 1, null]}, 'user'));
    expect(escaping.toParts(text)).toEqual([{kind: 'plain', text: '{"<s>":[{"a":"<s>"},1,null]}'}]);
  });

  it('takes another mark when somebody wrote the first one', () => {
    const first = String.fromCodePoint(0x10fffd);
    expect(render(`${first}<s>`)[1]).toEqual({kind: 'plain', text: `${first}<s>`});
  });
});
