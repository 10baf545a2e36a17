import {describe, expect, it} from 'vitest';
import type {Figure} from '../../../../bench/engine/figures.ts';
import {summarize} from '../../../../bench/engine/results.ts';
import type {Samples} from '../../../../bench/engine/samples.ts';

const speed: Figure = {
  id: 'speed',
  title: 'Speed',
  unit: 'tokens/s',
  better: 'higher',
  target: {type: 'ratio', atLeast: 2},
};
const wait: Figure = {id: 'wait', title: 'Wait', unit: 'ms', better: 'lower', target: {type: 'value', atMost: 5}};
const pause: Figure = {
  id: 'pause',
  title: 'Pause',
  unit: 'ms',
  better: 'lower',
  target: {type: 'other', id: 'wait', atMostTimes: 1.5, text: 'one wait'},
};

function samplesOf(values: Record<string, number>, cpuMsPerToken: number | null = null): Samples {
  return Object.fromEntries(Object.entries(values).map(([id, value]) => [id, {value, cpuMsPerToken}]));
}

describe('summarize', () => {
  it('takes the median of the rounds with its spread, values and CPU time alike', () => {
    const rounds = [samplesOf({speed: 30}, 9), samplesOf({speed: 10}, 7), samplesOf({speed: 20}, 8)];
    const [{ours, llama}] = summarize([speed], {ours: rounds, llama: []});
    expect(ours).toEqual({median: 20, min: 10, max: 30, cpuMsPerToken: 8, values: [30, 10, 20]});
    expect(llama).toBeNull();
  });

  it('gives ratios above 1 where ours is better, also where less is better', () => {
    const samples = {ours: [samplesOf({speed: 30, wait: 2})], llama: [samplesOf({speed: 10, wait: 8})]};
    expect(summarize([speed, wait], samples).map(({ratio}) => ratio)).toEqual([3, 4]);
  });

  it.each([
    {name: 'a ratio that is reached', ours: {speed: 20}, llama: {speed: 10}, figure: speed, isMet: true},
    {name: 'a ratio that is missed', ours: {speed: 19}, llama: {speed: 10}, figure: speed, isMet: false},
    {name: 'a ratio without the other side', ours: {speed: 19}, llama: {}, figure: speed, isMet: null},
    {name: 'a limit that is kept', ours: {wait: 5}, llama: {wait: 90}, figure: wait, isMet: true},
    {name: 'a limit that is passed', ours: {wait: 6}, llama: {wait: 90}, figure: wait, isMet: false},
    {name: 'a limit given by another figure', ours: {wait: 4, pause: 6}, llama: {}, figure: pause, isMet: true},
    {name: 'such a limit passed', ours: {wait: 4, pause: 7}, llama: {}, figure: pause, isMet: false},
    {name: 'such a limit that is not there', ours: {pause: 7}, llama: {}, figure: pause, isMet: null},
  ])('judges $name', ({ours, llama, figure, isMet}) => {
    const results = summarize([speed, wait, pause], {ours: [samplesOf(ours)], llama: [samplesOf(llama)]});
    expect(results.find((result) => result.figure === figure)?.target?.isMet).toBe(isMet);
  });

  it('leaves out figures that were not measured', () => {
    const results = summarize([speed, wait], {ours: [samplesOf({wait: 1})], llama: []});
    expect(results.map(({figure}) => figure.id)).toEqual(['wait']);
  });
});
