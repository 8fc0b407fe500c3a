import {expect, test} from 'vitest'
import {resultsTable} from '../../../src/report/results-table.js'
import {dataLoss, failover, refuted} from './samples.js'

const view = {width: 80, colour: false, unicode: true}

test('a line per run, in the order given', () => {
  const runs = [dataLoss().run, failover({state: 'interrupted'}).run, refuted().run]
  expect(resultsTable(runs, view)).toMatchInlineSnapshot(`
    "id    experiment  when (UTC)        verdict             Kafka  runtime      took
    7f3a  data-loss   2026-11-29 19:36  upheld              4.4.0  local    1 m 52 s
    b21c  failover    2026-11-29 19:36  upheld              4.4.0  local    3 m 51 s
                                        (interrupted, 12
                                        of 12)
    7f3a  data-loss   2026-11-29 19:36  refuted             4.4.0  local    1 m 52 s"
  `)
})

test('no run says what to do', () => {
  expect(resultsTable([], view)).toBe('No run is stored here yet.   Next   kx experiment list')
})

test('an id of any length stays whole, because it is what one types', () => {
  const id = '20261129-193654-7f3a'
  expect(resultsTable([{...dataLoss().run, id}], {...view, width: 60})).toContain(`${id}  `)
})
