import {expect, test} from 'vitest'
import {nearest} from '../../../src/cli/nearest.js'

const names = ['data-loss', 'natural-loss', 'failover', 'min-insync-replicas']

test('a mistyped word finds what was meant, the nearest first', () => {
  expect(nearest('data-los', names)).toEqual(['data-loss'])
  expect(nearest('failovre', names)).toEqual(['failover'])
  expect(nearest('Failover', names)).toEqual(['failover'])
})

test('a beginning is enough', () => {
  expect(nearest('min', names)).toEqual(['min-insync-replicas'])
})

test('a word that resembles nothing finds nothing', () => {
  expect(nearest('throughput', names)).toEqual([])
  expect(nearest('', names)).toEqual([])
})

test('of equally near ones the order is the alphabet’s, and there are at most three', () => {
  expect(nearest('ab', ['ad', 'ac', 'aa', 'ae'])).toEqual(['aa', 'ac', 'ad'])
})
