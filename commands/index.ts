import type {Command} from '@oclif/core'
import Clean from './clean.js'
import Down from './down.js'
import Heal from './heal.js'
import Status from './status.js'
import Up from './up.js'

/** Every command of kx by its id; `:` stands for the space between its words. */
export default {
  clean: Clean,
  down: Down,
  heal: Heal,
  status: Status,
  up: Up,
} satisfies Record<string, Command.Class>
