import {readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import type {Interfaces} from '@oclif/core'
import {exitCode} from '../util/errors.js'

export interface MainOptions {
  /** The package's folder. */
  readonly root: URL
  /** The module with the table of commands, if it is not the compiled one. */
  readonly table?: string
}

/** How long a finished command may keep the process alive by what it forgot to close. */
const lingerMs = 2_000

/** Commands with a table of their own: it is loaded instead of that with all of them. */
const alone = ['dump-log']

/** `kx …`: runs one command and sets the exit code. Never throws. */
export async function main(argv: string[], {root, table}: MainOptions): Promise<void> {
  const pjson = packageOf(root)
  if (argv.length === 1 && argv[0] === '--version') {
    survivePipes()
    process.stdout.write(`kx ${pjson.version} (${process.platform}-${process.arch}, node ${process.version})\n`)
    return
  }
  pjson.oclif.additionalHelpFlags = ['-h']
  const commands = pjson.oclif.commands as {target: string}
  if (table) commands.target = table
  const [command = ''] = argv
  if (alone.includes(command)) commands.target = commands.target.replace(/index(?=\.[jt]s$)/, `only-${command}`)
  const {run, settings} = await import('./oclif.js')
  settings.enableAutoTranspile = false
  survivePipes()
  // What somebody has put into the home folder is no part of kx.
  const options = {root: fileURLToPath(root), pjson, userPlugins: false, devPlugins: false}
  process.on('uncaughtException', error => {
    // While a command works it cleans up and tells the bug itself.
    if (process.listenerCount('uncaughtException') > 1) return
    process.stderr.write(`This is a bug in kx: ${error.stack}\n`)
    process.exit(exitCode.internal)
  })
  try {
    await run(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv, options)
  } catch (error) {
    await failed(error, argv, options)
  }
  setTimeout(() => process.exit(), lingerMs).unref()
}

type Package = Interfaces.PJSON

function packageOf(root: URL): Package {
  return JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Package
}

/**
 * A reader that goes away (`| head`) is no error, and everything that must be cleaned up still is. oclif has a listener
 * of its own, which throws on a full disk: that would look like a bug.
 */
function survivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return
      process.exitCode = exitCode.environment
      if (stream === process.stdout)
        process.stderr.write(`Error: the answer can't be written to stdout: ${error.message}\n`)
    })
  }
}

/** What no command could tell itself: a command that does not exist, or a module that can't be loaded. */
async function failed(error: unknown, argv: readonly string[], options: {root: string; pjson: Package}): Promise<void> {
  const {askedFormat, tell} = await import('./base-command.js')
  const {failureOf} = await import('./failure.js')
  const {unknownCommand} = await import('./unknown-command.js')
  await tell(failureOf((await unknownCommand(error, argv, options)) ?? error), askedFormat(argv, process.env))
}
