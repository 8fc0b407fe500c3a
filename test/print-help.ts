// Prints the help of every command at 80 columns, for the golden of test/cli.test.ts.
import {readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {Config} from '@oclif/core/config'
import {Help} from '@oclif/core/help'
import {settings} from '@oclif/core/settings'

settings.enableAutoTranspile = false
const root = fileURLToPath(new URL('..', import.meta.url))
const pjson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
pjson.oclif.commands.target = './commands/index.ts'
const config = await Config.load({root, pjson, version: '0.0.0'})
const help = new Help(config, {maxWidth: 80, stripAnsi: true})
for (const command of [...config.commands].sort((a, b) => (a.id < b.id ? -1 : 1))) {
  process.stdout.write(`$ kx ${command.id.replaceAll(':', ' ')} --help\n`)
  await help.showCommandHelp(command)
}
