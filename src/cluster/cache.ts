import {homedir} from 'node:os'
import {isAbsolute, join} from 'node:path'

/**
 * The folder of what kx can fetch or make again: `$XDG_CACHE_HOME/kx`, else `~/.cache/kx`, on macOS
 * `~/Library/Caches/kx`. A relative `XDG_CACHE_HOME` is ignored, as the XDG base directory specification demands.
 */
export function cacheFolder(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const said = env.XDG_CACHE_HOME
  if (said && isAbsolute(said)) return join(said, 'kx')
  const home = env.HOME || homedir()
  return platform === 'darwin' ? join(home, 'Library', 'Caches', 'kx') : join(home, '.cache', 'kx')
}

/** `<cache>/kafka/<version>`: the jars in `libs`, and what else is made once per Kafka version. */
export function kafkaCacheFolder(version: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheFolder(env), 'kafka', version)
}
