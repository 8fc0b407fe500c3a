// `npm run bench -- <name> [flags]`: figures beside a reference that is measured in the same run. Never a timed test.
import {dumpLogBench} from './bench/dump-log.js'
import {upBench} from './bench/up.js'

const benches: Readonly<Record<string, (flags: readonly string[]) => Promise<void>>> = {
  up: upBench,
  'dump-log': dumpLogBench,
}

const [name = '', ...flags] = process.argv.slice(2)
const bench = benches[name]
if (bench) await bench(flags)
else {
  process.stderr.write(`There is no bench "${name}". There are: ${Object.keys(benches).join(', ')}.\n`)
  process.exitCode = 2
}
