#!/usr/bin/env node
// `dump-log` is bundled (scripts/bundle.mjs), so that a small file is there at once.
const bundled = process.argv[2] === 'dump-log'
const {main} = await import(bundled ? '../dist/bundle/main.js' : '../dist/src/cli/main.js')

await main(process.argv.slice(2), {
  root: new URL('..', import.meta.url),
  ...(bundled && {table: './dist/bundle/only-dump-log.js'}),
})
