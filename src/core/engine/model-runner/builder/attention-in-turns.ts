/**
 * Attention over several new tokens of a row with the bits that decoding them one after the other gives: the operator takes
 * another kernel for more than one query of a row, whose last bits differ. So it runs once for each turn: in turn t it
 * computes the t-th new token of every row. The products before and after it see all tokens as a batch; they give the
 * same bits in any batch. This is what checks drafts (decision 0009).
 *
 * Inputs in place of the ordinary ones: input_ids int64 [tokens, 1]; for each turn tokens_of_turn.T int64 [batch], which
 * token of the step each row computes, and seqlens_k.T int32 [batch]; token_order int64 [tokens], where each token's result
 * stands among those of all turns. A row with fewer tokens repeats its last one, which writes the same numbers again.
 */
import type {OnnxGraph, Value} from './onnx-graph.ts';

/** Names of one run of the operator; those of the cache stand before `.LAYER.key` and `.LAYER.value`. */
export interface TurnNames {
  result: Value;
  past: string;
  present: string;
}

export type AttentionOperator = (names: TurnNames, queryKeyValue: readonly Value[], lengths: Value) => Value;

const turnsOf = (numTurns: number) => Array.from({length: numTurns}, (_, turn) => turn);
const presentName = (turn: number) => `present.turn.${turn}`;

/** What the results of the cache are called; in a graph in turns every turn has its own names for the same memory. */
export function presentNames(numTurns: number | null): string[] {
  return numTurns === null ? ['present'] : turnsOf(numTurns).map(presentName);
}

/** Inputs of a graph in turns besides the cache and `logits_at`, in order. */
export function declareTurns(graph: OnnxGraph, numTurns: number): void {
  graph.input('input_ids', 'int64', ['tokens', 1]);
  for (const turn of turnsOf(numTurns)) graph.input(`tokens_of_turn.${turn}`, 'int64', ['batch']);
  for (const turn of turnsOf(numTurns)) graph.input(`seqlens_k.${turn}`, 'int32', ['batch']);
  graph.input('total_sequence_length', 'int32', [1]);
  graph.input('token_order', 'int64', ['tokens']);
}

/** @param parts queries, keys and values of all tokens, or everything in the first; an empty name = none */
export function attendInTurns(
  graph: OnnxGraph,
  numTurns: number,
  name: string,
  parts: readonly Value[],
  operator: AttentionOperator,
): Value {
  const results = turnsOf(numTurns).map((turn) => {
    const own = parts.map((part) =>
      part === '' ? '' : graph.node('Gather', `${part}.turn.${turn}`, [part, `tokens_of_turn.${turn}`], {axis: 0}),
    );
    const past = turn === 0 ? 'past_key_values' : presentName(turn - 1);
    return operator({result: `${name}.turn.${turn}`, past, present: presentName(turn)}, own, `seqlens_k.${turn}`);
  });
  const all = graph.node('Concat', `${name}.turns`, results, {axis: 0});
  return graph.node('Gather', name, [all, 'token_order'], {axis: 0});
}
