#!/usr/bin/env node
// kx from its sources, for its developers: no build needed.
import {register} from 'tsx/esm/api'

register()
const {main} = await import('../src/cli/main.ts')
await main(process.argv.slice(2), {root: new URL('..', import.meta.url), table: './commands/index.ts'})
