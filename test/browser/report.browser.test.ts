import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Page} from 'playwright-core'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {htmlReport} from '../../src/report/html.js'
import {dataLoss, failover, inconclusive, interrupted, refuted, stripFigure} from '../unit/report/samples.js'
import {type OpenPage, openFile} from './browser.js'

const inputs = {
  failover: failover(),
  'data-loss': dataLoss(),
  refuted: refuted(),
  inconclusive: inconclusive(),
  interrupted: interrupted(),
  segments: {...dataLoss(), figures: [stripFigure]},
}
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kx-report-'))
  for (const [name, input] of Object.entries(inputs))
    await writeFile(join(folder, `${name}.html`), await htmlReport(input))
})
afterAll(() => rm(folder, {recursive: true, force: true}))

const open = (name: keyof typeof inputs): Promise<OpenPage> => openFile(join(folder, `${name}.html`))
const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
const background = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor')

/** The drawings that are to be seen now: how wide, and how many lines with a length they have. */
const drawings = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.chart svg')].filter(svg => svg.getBoundingClientRect().width > 0).map(svg => ({
    width: Math.round(svg.getBoundingClientRect().width),
    paths: [...svg.querySelectorAll('path')].filter(path => path.getTotalLength() > 20).length,
    letters: Math.min(...[...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect().height)),
  }))`) as Promise<{width: number; paths: number; letters: number}[]>

test.each(Object.keys(inputs) as (keyof typeof inputs)[])(
  'the page of the run %s has no console error, asks for nothing but itself, and never scrolls sideways',
  async name => {
    await using opened = await open(name)
    const requests: string[] = []
    opened.page.on('request', request => requests.push(request.url()))
    await opened.page.reload({waitUntil: 'networkidle'})
    expect(opened.complaints).toEqual([])
    expect(requests.filter(url => url !== 'data:,')).toEqual([opened.page.url()])
    for (const width of [1280, 820, 400, 320]) {
      await opened.page.setViewportSize({width, height: 800})
      expect([width, await overflow(opened.page)]).toEqual([width, 0])
    }
  },
)

test('charts are drawn, one drawing for wide windows and one that can be read on a phone', async () => {
  await using opened = await open('failover')
  const wide = await drawings(opened.page)
  expect(wide).toHaveLength(2)
  await opened.page.setViewportSize({width: 400, height: 800})
  const narrow = await drawings(opened.page)
  expect(narrow).toHaveLength(2)
  for (const {paths, letters} of [...wide, ...narrow]) {
    expect(paths).toBeGreaterThan(4)
    expect(letters).toBeGreaterThan(9)
  }
  for (const {width} of narrow) expect(width).toBeLessThanOrEqual(400)
})

test('the colours of the drawings follow the scheme of the reader', async () => {
  await using opened = await open('failover')
  const line = () =>
    opened.page.evaluate(`getComputedStyle(document.querySelector('.lines path[stroke="var(--series-1)"]')).stroke`)
  await opened.page.emulateMedia({colorScheme: 'light'})
  expect([await background(opened.page), await line()]).toEqual(['rgb(250, 248, 243)', 'rgb(42, 90, 168)'])
  await opened.page.emulateMedia({colorScheme: 'dark'})
  expect([await background(opened.page), await line()]).toEqual(['rgb(20, 21, 24)', 'rgb(141, 180, 245)'])
})

test('blocks are as wide as they are large, and a row that is longer than a line goes on in the next', async () => {
  await using opened = await open('segments')
  const rows = (await opened.page.evaluate(`[...document.querySelectorAll('.strip .row')].map(row => ({
    line: row.querySelector('.bar').getBoundingClientRect().width,
    blocks: [...row.querySelectorAll('.block')].map(block => {
      const {width, top} = block.getBoundingClientRect()
      return {width, top, cut: block.scrollWidth > block.clientWidth + 1}
    }),
  }))`)) as {line: number; blocks: {width: number; top: number; cut: boolean}[]}[]
  const [whole, short, long] = rows
  expect(whole?.blocks.map(({top}) => top)).toEqual(Array(2).fill(whole?.blocks[0]?.top))
  expect((whole?.blocks[0]?.width ?? 0) / (whole?.blocks[1]?.width ?? 1)).toBeCloseTo(2, 1)
  expect((short?.blocks[0]?.width ?? 0) / (short?.line ?? 1)).toBeCloseTo((161 / 600) * 0.94, 1)
  expect(new Set(long?.blocks.map(({top}) => top)).size).toBeGreaterThan(1)
  expect(rows.flatMap(({blocks}) => blocks).filter(({cut}) => cut)).toEqual([])
})

test('a timeline puts its spans where they belong: the fault begins where the old leader ends', async () => {
  await using opened = await open('failover')
  const edges = (await opened.page.evaluate(`(() => {
    const of = selector => document.querySelector(selector).getBoundingClientRect()
    return {fault: of('.lane.fault .span').left, end: of('.timeline .lane:nth-of-type(2) .span.good').right, band: of('.band').left}
  })()`)) as {fault: number; end: number; band: number}
  expect(Math.abs(edges.fault - edges.end)).toBeLessThan(1)
  expect(Math.abs(edges.fault - edges.band)).toBeLessThan(1)
})

test('no span of a timeline leaves its track, on a phone either', async () => {
  await using opened = await open('failover')
  await opened.page.setViewportSize({width: 400, height: 800})
  const outside = await opened.page.evaluate(`[...document.querySelectorAll('.track .span')].filter(span => {
    const [inner, outer] = [span.getBoundingClientRect(), span.parentElement.getBoundingClientRect()]
    return inner.left < outer.left - 1 || inner.right > outer.right + 1
  }).map(span => span.textContent)`)
  expect(outside).toEqual([])
})

test('text can be read: every colour of text has a contrast of 4.5 to what lies behind it, in both schemes', async () => {
  await using opened = await open('inconclusive')
  for (const colorScheme of ['light', 'dark'] as const) {
    await opened.page.emulateMedia({colorScheme})
    const poor = await opened.page.evaluate(`(() => {
      const parse = text => (text.match(/[\\d.]+/g) ?? []).map(Number)
      const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
      const behind = element => { for (let e = element; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3) return c } return [255, 255, 255] }
      return [...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== '')).flatMap(e => {
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x)
        const contrast = (a + 0.05) / (b + 0.05)
        return contrast < 4.5 ? [e.tagName + '.' + e.className + ' ' + contrast.toFixed(2)] : []
      })
    })()`)
    expect(poor).toEqual([])
  }
})

test('it prints: all of it on paper, the links of the screen left out', async () => {
  await using opened = await open('data-loss')
  const pdf = await opened.page.pdf({format: 'A4'})
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
  await opened.page.emulateMedia({media: 'print'})
  expect(await opened.page.evaluate('getComputedStyle(document.querySelector("nav")).display')).toBe('none')
})

test('the picture of the page is not empty', async () => {
  await using opened = await open('failover')
  const shot = await opened.page.screenshot({fullPage: true})
  expect(shot.readUInt32BE(16)).toBe(1280)
  expect(shot.readUInt32BE(20)).toBeGreaterThan(4_000)
  expect(shot.length).toBeGreaterThan(150_000)
})
