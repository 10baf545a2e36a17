/**
 * What the text of one choice means, piece by piece: reasoning, visible text, tool calls. This is what an output parser
 * hands on; whoever shows an answer folds the pieces or streams them. Joined pieces of one kind are the whole text of
 * that kind, however the text was cut before.
 */

export type ParsedPiece =
  | {type: 'text-delta'; text: string}
  | {type: 'reasoning-delta'; text: string}
  | {
      type: 'tool-call-start';
      /** Counts the calls of the choice from 0. */
      index: number;
      id: string;
      name: string;
    }
  | {
      type: 'tool-call-delta';
      index: number;
      /** The next characters of the JSON text of the arguments; never taken back. */
      argumentsText: string;
    };

/** The pieces of one choice joined the way a client joins them. */
export interface FoldedPieces {
  content: string;
  reasoning: string;
  toolCalls: {id: string; name: string; argumentsText: string}[];
}

export function foldPieces(pieces: Iterable<ParsedPiece>): FoldedPieces {
  const folded: FoldedPieces = {content: '', reasoning: '', toolCalls: []};
  for (const piece of pieces) foldPiece(folded, piece);
  return folded;
}

/** Adds one piece to `folded`, in place. */
export function foldPiece(folded: FoldedPieces, piece: ParsedPiece): void {
  switch (piece.type) {
    case 'text-delta':
      folded.content += piece.text;
      break;
    case 'reasoning-delta':
      folded.reasoning += piece.text;
      break;
    case 'tool-call-start':
      folded.toolCalls[piece.index] = {id: piece.id, name: piece.name, argumentsText: ''};
      break;
    case 'tool-call-delta': {
      const call = folded.toolCalls[piece.index];
      if (call !== undefined) call.argumentsText += piece.argumentsText;
      break;
    }
  }
}
