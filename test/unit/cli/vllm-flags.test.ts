import {describe, expect, it} from 'vitest';
import {otherNames} from '../../../src/cli/other-names.ts';
import {shortVllmFlags, vllmFlags} from '../../../src/cli/vllm-flags.ts';
import Serve from '../../../src/commands/serve.ts';

const ours = new Set([...Serve.optionSpecs.flatMap(({flag, aliases}) => [flag, ...aliases]), Serve.positionalName]);

describe('vllmFlags', () => {
  it('knows the flags of vLLM', () => {
    expect(vllmFlags.size).toBeGreaterThan(260);
  });

  it('calls supported exactly what `serve` has', () => {
    const wrong = [...vllmFlags].filter(([name, {policy}]) => (policy === 'supported') !== ours.has(name));
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  it('says why a flag is refused', () => {
    const mute = [...vllmFlags].filter(([, {policy, reason}]) => (policy === 'refused') !== reason.length > 10);
    expect(mute.map(([name]) => name)).toEqual([]);
  });

  it('names flags of ours for those of others', () => {
    expect([...otherNames.values()].filter((name) => !ours.has(name))).toEqual([]);
    expect([...otherNames.keys()].filter((name) => ours.has(name) || vllmFlags.has(name))).toEqual([]);
  });

  it('maps every short spelling to a known flag', () => {
    expect([...shortVllmFlags.values()].filter((name) => !vllmFlags.has(name))).toEqual([]);
  });

  it('gives neutral values only to flags that take values', () => {
    const wrong = [...vllmFlags.values()].filter(({takes, neutral}) => takes === 'nothing' && neutral.length > 0);
    expect(wrong).toEqual([]);
  });
});
