import {describe} from 'vitest'
import {lifeOnA} from './kx-process.js'

describe('kx with JVMs of this machine', () => {
  lifeOnA('local', {
    phases: [/formatting/, /starting 4 JVMs/, /waiting until/, /writing and reading/],
    blow: /pause broker/,
  })
})
