/**
 * The screen: finished items above, which the terminal keeps, and the short live part below. Draws and reads keys; what
 * they do is the business of the actions that are passed in.
 */
import {Box, Static, Text, useCursor, useStdin, useStdout} from 'ink';
import {type ReactNode, useEffect, useInsertionEffect, useRef, useState, useSyncExternalStore} from 'react';
import type {InputActions, InputModel} from '../input/input-model.ts';
import {earlyKeys} from '../input/key-reader.ts';
import type {ScreenStore} from '../state/screen-store.ts';
import type {ViewItem} from '../state/view-state.ts';
import {drawItem} from './draw-items.ts';
import type {CodeColours} from './highlight.ts';
import {drawLivePart} from './live-part.ts';
import {type LiveTerminal, liveMark} from './live-terminal.ts';
import {type Pen, usableWidth} from './pen.ts';
import type {Paint} from './spans.ts';

export interface ChatScreenProps {
  store: ScreenStore;
  input: InputModel;
  actions: InputActions;
  paint: Paint;
  colours: CodeColours;
  /** About the tools, for the status line. */
  toolsText: () => string | null;
  /** Draws the live part. */
  terminal: Pick<LiveTerminal, 'commit'>;
  windowSize: () => WindowSize;
}

export interface WindowSize {
  columns: number;
  rows: number;
}

const tickMs = 100;
/** What arrives so soon was typed before the screen was there. */
const earlyMs = 30;

export function ChatScreen({
  store,
  input,
  actions,
  paint,
  colours,
  toolsText,
  terminal,
  windowSize,
}: ChatScreenProps): ReactNode {
  const state = useSyncExternalStore(store.subscribe, store.snapshot);
  const typed = useSyncExternalStore(input.subscribe, input.snapshot);
  const {columns, rows} = useWindowSize(windowSize);
  useKeys((chunk) => input.readChunk(chunk, state, actions));
  useTicks(state.phase !== 'idle' || state.loading !== null);
  const {setCursorPosition} = useCursor();

  const pen = {width: usableWidth(columns), paint, colours};
  const live = drawLivePart(state, typed, {...pen, rows, nowMs: performance.now(), toolsText: toolsText()});
  setCursorPosition(live.cursor ?? undefined);
  // As `useCursor` does it: before Ink draws what was committed.
  useInsertionEffect(() => terminal.commit(live));
  return (
    <>
      <Static items={state.items}>{(item, index) => <Item key={index} item={item} pen={pen} />}</Static>
      <Box flexDirection="column">
        {live.lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity than their place
          <Text key={index} wrap="truncate">
            {(index === 0 ? liveMark : '') + (line === '' ? ' ' : line)}
          </Text>
        ))}
      </Box>
    </>
  );
}

function Item({item, pen}: {item: ViewItem; pen: Pen}): ReactNode {
  const lines = drawItem(item, pen);
  return lines.length === 0 ? null : <Text>{lines.map((line) => (line === '' ? ' ' : line)).join('\n')}</Text>;
}

function useWindowSize(read: () => WindowSize): WindowSize {
  const {stdout} = useStdout();
  const [size, setSize] = useState(read);
  useEffect(() => {
    const onResize = () => setSize(read());
    stdout.on('resize', onResize);
    return () => {
      stdout.off('resize', onResize);
    };
  });
  return size;
}

/** Raw bytes of the terminal, as Ink reads them. */
function useKeys(onChunk: (chunk: string) => void): void {
  const {setRawMode, isRawModeSupported, internal_eventEmitter: emitter} = useStdin();
  const latest = useRef(onChunk);
  latest.current = onChunk;
  useEffect(() => {
    if (!isRawModeSupported) return;
    setRawMode(true);
    let isEarly = true;
    // What is waiting is read between the timer and the callback behind it.
    const timer = setTimeout(() => setImmediate(() => (isEarly = false)), earlyMs);
    const listener = (chunk: string) => latest.current(isEarly ? earlyKeys(chunk) : chunk);
    emitter.on('input', listener);
    return () => {
      clearTimeout(timer);
      emitter.off('input', listener);
      setRawMode(false);
    };
  }, [setRawMode, isRawModeSupported, emitter]);
}

/** Draws again while something moves. */
function useTicks(isMoving: boolean): void {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), tickMs);
    return () => clearInterval(timer);
  }, [isMoving]);
}
