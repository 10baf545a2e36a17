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
import {drawActivity, drawInput, statusLine} from './draw-live.ts';
import type {CodeColours} from './highlight.ts';
import type {LiveFrame} from './live-frame.ts';
import type {Pen} from './pen.ts';
import type {Paint} from './spans.ts';

export interface ChatScreenProps {
  store: ScreenStore;
  input: InputModel;
  actions: InputActions;
  paint: Paint;
  colours: CodeColours;
  /** About the tools, for the status line. */
  toolsText: () => string | null;
  /** Learns what is drawn. */
  liveFrame: LiveFrame;
}

const tickMs = 100;
/** What arrives so soon was typed before the screen was there. */
const earlyMs = 30;

export function ChatScreen({store, input, actions, paint, colours, toolsText, liveFrame}: ChatScreenProps): ReactNode {
  const state = useSyncExternalStore(store.subscribe, store.snapshot);
  const typed = useSyncExternalStore(input.subscribe, input.snapshot);
  const {columns, rows} = useTerminalSize();
  useKeys((chunk) => input.readChunk(chunk, state, actions));
  useTicks(state.phase !== 'idle' || state.loading !== null);
  const {setCursorPosition} = useCursor();

  // One column stays free: a full line would wrap in some terminals.
  const width = Math.max(10, columns - 1);
  // The live part must stay shorter than the terminal, else it would be repeated in the history.
  const room = Math.max(4, rows - 2);
  const drawnInput = drawInput(typed, width, Math.max(1, Math.floor(room / 2)), paint);
  const maxLines = Math.max(1, room - drawnInput.lines.length - 2);
  const pen = {width, paint, colours};
  const context = {...pen, maxLines, nowMs: performance.now()};
  const activity = drawActivity(state, context);
  // At the end the live part goes, so that the shell's prompt follows the talk.
  const isHidden = state.hasQuit || state.isCovered;
  const lines = isHidden ? [] : [...activity, '', ...drawnInput.lines, statusLine(state, toolsText(), context)];
  const cursor = {x: drawnInput.cursor.x, y: activity.length + 1 + drawnInput.cursor.y};
  setCursorPosition(isHidden ? undefined : cursor);
  // As `useCursor` does it: before Ink draws what was committed.
  useInsertionEffect(() => liveFrame.commit(isHidden ? null : {lines, cursor}));
  return (
    <>
      <Static items={state.items}>{(item, index) => <Item key={index} item={item} pen={pen} />}</Static>
      <Box flexDirection="column">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity than their place
          <Text key={index} wrap="truncate">
            {line === '' ? ' ' : line}
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

function useTerminalSize(): {columns: number; rows: number} {
  const {stdout} = useStdout();
  const read = () => ({columns: stdout.columns || 80, rows: stdout.rows || 24});
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
