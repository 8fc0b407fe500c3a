import type {Command} from '@oclif/core'
import DumpLog from './dump-log.js'

/** The table for `kx dump-log …`: a tiny file should be there at once, so that no other command is loaded. */
export default {'dump-log': DumpLog} satisfies Record<string, Command.Class>
