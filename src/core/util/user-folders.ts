/** Folders of the user where a program keeps what it can make again. */
import os from 'node:os';
import path from 'node:path';

/** Cache folder of this program, by the rules of each system. Not created here. */
export function userCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(cacheRoot(env), 'parlance');
}

function cacheRoot(env: NodeJS.ProcessEnv): string {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME;
  switch (process.platform) {
    case 'win32':
      return env.LOCALAPPDATA ?? path.join(os.homedir(), 'AppData', 'Local');
    case 'darwin':
      return path.join(os.homedir(), 'Library', 'Caches');
    default:
      return path.join(os.homedir(), '.cache');
  }
}
