import {readdirSync, readFileSync} from 'node:fs'
import {dirname, join, normalize} from 'node:path'
import ts from 'typescript'
import {describe, expect, test} from 'vitest'

const root = new URL('..', import.meta.url).pathname

/** What each layer may import besides itself (docs/DESIGN.md, "Layers"). `types:` means `import type` only. */
const layers: Record<string, readonly string[]> = {
  'src/kafka': [],
  'src/util': [],
  'src/protocol': ['src/kafka', 'src/util'],
  'src/log': ['src/protocol', 'src/kafka', 'src/util'],
  'src/wire': ['src/log', 'src/protocol', 'src/kafka', 'src/util'],
  'src/history': ['src/kafka', 'src/util'],
  'src/cluster': [
    'src/wire',
    'src/kafka',
    'src/util',
    'types:src/log',
    'src/log/write-batch',
    'src/log/batches',
    'src/log/byte-source',
  ],
  'src/clients': ['src/history', 'src/kafka', 'src/util', 'types:src/cluster', 'src/log/codecs'],
  'src/experiment': ['src/history', 'src/log', 'src/kafka', 'src/util', 'types:src/cluster', 'types:src/wire'],
  experiments: ['src/experiment', 'src/kafka'],
  'src/report': ['src/experiment', 'src/kafka', 'src/util', 'types:src/cluster', 'types:src/history'],
  'src/lab': [
    'src/kafka',
    'src/util',
    'src/protocol',
    'src/log',
    'src/wire',
    'src/history',
    'src/cluster',
    'src/clients',
    'src/experiment',
    'experiments',
  ],
  'src/inspect': ['src/log', 'src/protocol', 'src/wire', 'src/cluster', 'src/kafka', 'src/util'],
  'src/cli': ['src/lab', 'src/report', 'src/experiment', 'src/util', 'src/kafka', 'src/cluster'],
  commands: [
    'src/cli',
    'src/lab',
    'src/report',
    'src/inspect',
    'src/log',
    'src/wire',
    'src/cluster',
    'src/kafka',
    'src/util',
    'src/experiment',
  ],
}

/** One door per dependency: the only places that may import it. */
const doors: Record<string, readonly string[]> = {
  kafkajs: ['src/clients/kafkajs'],
  dockerode: ['src/cluster/docker/'],
  'tar-stream': ['src/cluster/docker/', 'src/cluster/local/archive.ts'],
  execa: ['src/cluster/', 'src/clients/'],
  'node:child_process': ['src/cluster/local/', 'src/clients/child.ts', 'src/cluster/owner.ts'],
  asciichart: ['src/report/chart.ts'],
  'csv-stringify': ['src/report/csv.ts'],
  echarts: ['src/report/html'],
  '@oclif/core': ['commands/', 'src/cli/'],
  '@node-rs/crc32': ['src/log/crc32c.ts'],
  zstddec: ['src/log/codec/zstd.ts'],
  '@bokuweb/zstd-wasm': ['src/log/codec/zstd-writer.ts'],
  zod: ['src/cluster/', 'src/lab/', 'src/cli/', 'commands/'],
  yaml: ['src/cluster/compose.ts', 'src/cli/'],
  'simple-statistics': ['src/util/statistics.ts'],
  'hdr-histogram-js': ['src/util/', 'src/experiment/'],
}
/** Pure layers know no process, no file, no clock. */
const pure = ['src/protocol', 'src/log', 'src/history', 'src/experiment', 'src/report', 'experiments']
/** Built-in modules that read nothing of the world, and the files that load what is kx's own: message schemas, the CRC addon. */
const harmless = ['node:zlib', 'node:util', 'node:buffer', 'node:assert']
const loadsOwnData = ['src/protocol/schema.ts', 'src/log/crc32c.ts']
/** Where sleeping is the job. */
const sleepers = [
  'src/util/until.ts',
  'src/clients/',
  'src/proxy/',
  'src/lab/bench.ts',
  'src/lab/writing.ts',
  'src/lab/reading.ts',
]
/** Hot loops that are longer than a page on purpose (at most three). */
const hotLoops: readonly string[] = []
const linesAtMost = 400
const functionLinesAtMost = 70

interface Source {
  readonly path: string
  readonly text: string
  readonly tree: ts.SourceFile
  readonly imports: readonly {readonly from: string; readonly typeOnly: boolean}[]
}

const sources: readonly Source[] = ['src', 'commands', 'experiments'].flatMap(folder =>
  readdirSync(join(root, folder), {recursive: true})
    .map(String)
    .filter(path => path.endsWith('.ts'))
    .map(path => sourceOf(join(folder, path))),
)

function sourceOf(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const imports: {from: string; typeOnly: boolean}[] = []
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const clause = ts.isImportDeclaration(node) ? node.importClause : node
      const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
      const allTypes =
        named !== undefined &&
        (ts.isNamedImports(named) || ts.isNamedExports(named)) &&
        !(ts.isImportDeclaration(node) && node.importClause?.name) &&
        named.elements.length > 0 &&
        named.elements.every(element => element.isTypeOnly)
      const typeOnly = (clause !== undefined && 'isTypeOnly' in clause && clause.isTypeOnly === true) || allTypes
      imports.push({from: (node.moduleSpecifier as ts.StringLiteral).text, typeOnly})
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument && ts.isStringLiteral(argument)) imports.push({from: argument.text, typeOnly: false})
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return {path, text, tree, imports}
}

const layerOf = (path: string): string => Object.keys(layers).find(layer => path.startsWith(`${layer}/`)) ?? path
const targetOf = (source: Source, from: string): string =>
  normalize(join(dirname(source.path), from)).replace(/\.js$/, '')
const isOwn = (from: string): boolean => from.startsWith('.')
const packageOf = (from: string): string =>
  from.startsWith('@') ? from.split('/').slice(0, 2).join('/') : (from.split('/')[0] as string)

test('there are sources, and each lies in a layer', () => {
  expect(sources.length).toBeGreaterThan(50)
  expect(sources.filter(({path}) => !(layerOf(path) in layers)).map(({path}) => path)).toEqual([])
})

describe.each(sources)('$path', source => {
  test('imports only what its layer may', () => {
    const layer = layerOf(source.path)
    const allowed = layers[layer] ?? []
    const wrong = source.imports
      .filter(({from}) => isOwn(from))
      .filter(({from, typeOnly}) => {
        const target = targetOf(source, from)
        if (layerOf(target) === layer) return false
        if (allowed.includes(layerOf(target)) || allowed.includes(target)) return false
        return !(typeOnly && allowed.includes(`types:${layerOf(target)}`))
      })
    expect(wrong.map(({from}) => from)).toEqual([])
  })

  test('comes through the doors', () => {
    const wrong = source.imports.filter(({from, typeOnly}) => {
      if (isOwn(from)) return false
      const door = doors[from.startsWith('node:') ? from : packageOf(from)]
      if (door) return !door.some(place => source.path.startsWith(place))
      return !from.startsWith('node:') && !typeOnly
    })
    expect(wrong.map(({from}) => from)).toEqual([])
  })

  test('knows nothing of the world if its layer is pure', () => {
    if (!pure.includes(layerOf(source.path))) return
    const worldly = source.imports.filter(({from}) => from.startsWith('node:') && !harmless.includes(from))
    if (!loadsOwnData.includes(source.path)) expect(worldly.map(({from}) => from)).toEqual([])
    expect(source.text).not.toMatch(
      /\bDate\.now\(|new Date\(\)|performance\.now\(|Math\.random\(|process\.(env|hrtime|cwd|pid)/,
    )
  })

  test('is short, and so are its functions', () => {
    expect(source.text.split('\n').length).toBeLessThanOrEqual(linesAtMost + 1)
    const long: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body && !source.path.startsWith('experiments/')) {
        const lines = lineAt(source.tree, node.end) - lineAt(source.tree, node.getStart()) + 1
        const name = `${source.path}:${lineAt(source.tree, node.getStart()) + 1}`
        if (lines > functionLinesAtMost && !hotLoops.includes(name)) long.push(`${name} has ${lines} lines`)
      }
      ts.forEachChild(node, visit)
    }
    visit(source.tree)
    expect(long).toEqual([])
  })

  test('has none of the words that are not to be found', () => {
    const code = source.text
    expect(code).not.toMatch(/console\.(log|error|warn)/)
    expect(code).not.toMatch(/\bas any\b|@ts-ignore|@ts-nocheck/)
    expect(code).not.toMatch(/\b(TODO|FIXME|XXX)\b/)
    expect(source.path).not.toMatch(/manager|helper|utils/i)
    if (!sleepers.some(place => source.path.startsWith(place)))
      expect(code).not.toMatch(/\bpause\(\s*[\w.]+[,)]|timers\/promises|new Promise\([^)]*\) => setTimeout/)
    if (!source.path.startsWith('commands/') && !source.path.startsWith('experiments/'))
      expect(code).not.toMatch(/^export default/m)
  })
})

test('no two files import each other, however long the way', () => {
  const edges = new Map(
    sources.map(source => [
      source.path.replace(/\.ts$/, ''),
      source.imports.filter(({from, typeOnly}) => isOwn(from) && !typeOnly).map(({from}) => targetOf(source, from)),
    ]),
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (done.has(path) || trail.includes(path)) return
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  expect(cycles).toEqual([])
})

test('an experiment is a lab note: it imports nothing of the world, tries nothing, and fits on two pages', () => {
  for (const source of sources.filter(({path}) => path.startsWith('experiments/'))) {
    expect(
      source.imports.filter(({from}) => !isOwn(from)),
      source.path,
    ).toEqual([])
    expect(source.text, source.path).not.toMatch(/\btry\b\s*\{/)
    expect(source.text.split('\n').length, source.path).toBeLessThanOrEqual(175)
  }
})

function lineAt(tree: ts.SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line
}
