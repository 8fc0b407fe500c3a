// Exit 0 if node_modules holds what package-lock.json says for this platform, else 1 with nothing said.
// npm keeps what it installed in node_modules/.package-lock.json; packages for other platforms are missing there.
import {existsSync, readFileSync} from 'node:fs'

const root = new URL('../../', import.meta.url)

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(new URL(path, root), 'utf8')).packages ?? {}
  } catch {
    return undefined
  }
}

function fits(list, value) {
  if (list === undefined) return true
  return list.includes(`!${value}`) ? false : list.includes(value) || list.every(entry => entry.startsWith('!'))
}

/** Optional packages are those of one platform; libc is not asked: npm installs both kinds where it can't tell. */
function belongsHere(entry) {
  if (!entry.optional) return true
  return (
    fits(entry.os, process.platform) &&
    fits(entry.cpu, process.arch) &&
    entry.libc === undefined &&
    entry.os !== undefined
  )
}

function isInstalled() {
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf('node_modules/.package-lock.json')
  if (wanted === undefined || present === undefined) return false
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || !belongsHere(entry)) return true
    const found = present[path]
    return (
      found?.version === entry.version &&
      found?.integrity === entry.integrity &&
      existsSync(new URL(`${path}/package.json`, root))
    )
  })
}

process.exitCode = isInstalled() ? 0 : 1
