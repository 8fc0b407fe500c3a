// Puts what `kx dump-log` starts with into dist/bundle: kx's own modules and oclif in a few files. Finding and reading
// some two hundred small ones takes longer than a small segment does. Everything else stays where npm put it.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {relative} from 'node:path'
import {build} from 'esbuild'

/** What is reached from here is bundled, whatever it imports itself. */
const bundled = /^@oclif\/core(\/|$)/
/** oclif asks for a compiler in projects that are run from their sources; kx never is when it is bundled. */
const absent = ['typescript', 'ts-node']

/** @param {string} root the project's folder, with a slash at its end; dist/ holds the compiled modules */
export async function bundle(root) {
  const target = `${root}dist/bundle`
  const {metafile} = await build({
    absWorkingDir: root,
    entryPoints: {main: 'dist/src/cli/main.js', 'only-dump-log': 'dist/commands/only-dump-log.js'},
    outdir: target,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.20',
    metafile: true,
    logLevel: 'warning',
    chunkNames: '[name]-[hash]',
    // What oclif's modules ask for at run time, they ask in CommonJS.
    banner: {js: "import {createRequire as requireOf} from 'node:module'\nconst require = requireOf(import.meta.url)"},
    plugins: [{name: 'kx', setup: plugin(root)}],
  })
  writeFileSync(`${target}/LICENSES.txt`, licences(root, Object.keys(metafile.inputs)))
}

function plugin(root) {
  return ({onLoad, onResolve}) => {
    onResolve({filter: /^[^./]/}, ({path, importer}) => {
      const ours = !importer.includes('/node_modules/')
      return absent.includes(path) || (ours && importer !== '' && !bundled.test(path))
        ? {path, external: true}
        : undefined
    })
    // A module that looks for files beside itself still finds them where it was compiled to.
    onLoad({filter: /\/dist\/.*\.js$/}, ({path}) => {
      if (path.includes('/node_modules/')) return undefined
      const own = JSON.stringify(`../${relative(`${root}dist`, path)}`)
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', `new URL(${own}, import.meta.url).href`)
      return {contents, loader: 'js'}
    })
  }
}

/** The licences of the packages that the bundle has parts of, as they ask for. */
function licences(root, inputs) {
  const folders = new Set(inputs.flatMap(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const texts = [...folders].sort().map(folder => {
    const {name, version, license} = JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'))
    const file = readdirSync(`${root}${folder}`).find(entry => /^licen[cs]e/i.test(entry))
    const text = file ? readFileSync(`${root}${folder}/${file}`, 'utf8').trim() : ''
    return `${name} ${version} (${license})\n\n${text}\n`
  })
  return `Parts of these packages are in the files beside this one.\n\n${texts.join('\n----\n\n')}`
}
