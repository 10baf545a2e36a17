/** Which colours the screen has: what the person asked for, what the environment forbids, what the terminal says of itself. */
import type {ChatRunOptions, ChatTerminal} from '../chat-terminal.ts';
import {createPaint, type Paint, paintNone} from './spans.ts';

/** `FORCE_COLOR` goes before `NO_COLOR`, and both before what the output is. */
export function choosePaint(theme: ChatRunOptions['theme'], {env, stdout}: ChatTerminal): Paint {
  const hasColour = env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : !env.NO_COLOR && stdout.isTTY === true;
  if (theme === 'none' || !hasColour) return paintNone;
  return createPaint(theme === 'light' || (theme === 'auto' && hasLightBackground(env)) ? 'light' : 'dark');
}

/** Some terminals say their colours, `15` being white as the background. */
function hasLightBackground({COLORFGBG = ''}: NodeJS.ProcessEnv): boolean {
  return ['7', '15'].includes(COLORFGBG.split(';').at(-1)!);
}
