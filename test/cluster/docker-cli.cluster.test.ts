import {describe} from 'vitest'
import {lifeOnA} from './kx-process.js'

describe('kx with containers', () => {
  lifeOnA('docker', {phases: [/starting 4 containers/, /waiting until/, /writing and reading/], blow: /pause broker/})
})
