import {existsSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {buildScript, imageWays} from '../../../../src/cluster/docker/image.js'

describe('imageWays', () => {
  it('prefers what is here, then pulls the official image, then builds', () => {
    expect(imageWays('4.3.1')).toEqual([
      {way: 'local', image: 'apache/kafka:4.3.1'},
      {way: 'local', image: 'kx/kafka:4.3.1'},
      {way: 'pull', image: 'apache/kafka:4.3.1'},
      {way: 'build', image: 'kx/kafka:4.3.1'},
    ])
  })

  it('takes nothing but the image that was asked for', () => {
    expect(imageWays('4.4.0', 'registry.example/kafka:mine')).toEqual([
      {way: 'local', image: 'registry.example/kafka:mine'},
      {way: 'pull', image: 'registry.example/kafka:mine'},
    ])
  })
})

describe('buildScript', () => {
  it('is there', () => {
    expect(existsSync(buildScript())).toBe(true)
  })
})
