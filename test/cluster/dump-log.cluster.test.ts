import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll} from 'vitest'
import {killLeftovers} from '../../src/cluster/local/leftovers.js'
import {LocalRuntime} from '../../src/cluster/local/runtime.js'
import {inWorld} from '../cli-harness.js'
import {partitionsOf} from './partitions.js'

let home = ''
let restore = () => {}
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kx-dump-'))
  restore = inWorld({XDG_STATE_HOME: home, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME})
})
afterAll(async () => {
  await killLeftovers('dump')
  restore()
  rmSync(home, {recursive: true, force: true, maxRetries: 10, retryDelay: 100})
})

partitionsOf(() => new LocalRuntime())
