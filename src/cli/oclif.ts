/** What kx runs oclif with, loaded only when a command is run: `kx --version` needs none of it. */
export {Command} from '@oclif/core/command'
export {run} from '@oclif/core/run'
export {settings} from '@oclif/core/settings'
