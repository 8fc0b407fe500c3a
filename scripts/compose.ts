// Writes compose/kafka.yml: the default cluster as a person starts it by hand. A test compares the file with the code.
import {writeFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {standardCompose} from '../src/cluster/compose.js'

writeFileSync(fileURLToPath(new URL('../compose/kafka.yml', import.meta.url)), standardCompose())
