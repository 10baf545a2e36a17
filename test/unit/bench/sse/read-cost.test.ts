import {setImmediate as nextTurn} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {ReadCost} from '../../../../src/bench/sse/read-cost.ts';

const [a, b, c] = [{}, {}, {}];

it('is the median time between streams that are read in one turn of the loop', () => {
  const cost = new ReadCost();
  for (const [stream, timeMs] of [
    [a, 10],
    [b, 10.02],
    [c, 10.05],
    [a, 40],
  ] as const)
    cost.note(stream, timeMs);
  expect(cost.medianMs).toBeCloseTo(0.03);
});

it('counts several pieces of a stream as one read', () => {
  const cost = new ReadCost();
  for (const [stream, timeMs] of [
    [a, 10],
    [a, 10.1],
    [a, 10.2],
    [b, 10.5],
  ] as const)
    cost.note(stream, timeMs);
  expect(cost.medianMs).toBeCloseTo(0.5);
});

it('is not known where no stream waits for another', async () => {
  const cost = new ReadCost();
  cost.note(a, 10);
  await nextTurn();
  cost.note(b, 20);
  expect(cost.medianMs).toBeNull();
  cost.note(a, 21);
  expect(cost.medianMs).toBeCloseTo(1);
  cost.clear();
  expect(cost.medianMs).toBeNull();
});

it('keeps the latest of many', () => {
  const cost = new ReadCost();
  let timeMs = 0;
  const note = (times: number, stepMs: number) => {
    for (let index = 0; index < times; index++) cost.note(index % 2 === 0 ? a : b, (timeMs += stepMs));
  };
  note(100, 50);
  note(10_000, 0.02);
  expect(cost.medianMs).toBeCloseTo(0.02);
});
