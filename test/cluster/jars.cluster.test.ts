import {execFileSync} from 'node:child_process'
import {mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, it} from 'vitest'
import {kafkaLibs} from '../../src/cluster/local/jars.js'

it('Maven fills an empty cache with a Kafka whose tools run, and the second call needs no Maven', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'kx-jars-'))
  try {
    const phases: string[] = []
    const request = {
      version: '4.4.0',
      signal: new AbortController().signal,
      progress: (phase: string) => phases.push(phase),
    }
    const {libs, origin} = await kafkaLibs({
      ...request,
      env: {...process.env, XDG_CACHE_HOME: cache, KX_KAFKA_HOME: ''},
    })
    expect(origin).toBe('Maven')
    expect(phases[0]).toBe('fetching Kafka 4.4.0 with Maven, about 54 MB')
    expect(readdirSync(join(cache, 'kx', 'kafka', '4.4.0'))).toEqual(['libs'])
    expect(readdirSync(libs)).toEqual(
      expect.arrayContaining(['kafka_2.13-4.4.0.jar', 'kafka-tools-4.4.0.jar', 'log4j-slf4j-impl-2.25.3.jar']),
    )

    const id = execFileSync('java', ['-cp', join(libs, '*'), 'kafka.tools.StorageTool', 'random-uuid'], {
      encoding: 'utf8',
    })
    expect(id.trim()).toMatch(/^[\w-]{22}$/)

    const second = await kafkaLibs({...request, env: {XDG_CACHE_HOME: cache, PATH: ''}})
    expect(second).toEqual({libs, origin: "kx's cache (Maven)"})
  } finally {
    rmSync(cache, {recursive: true, force: true})
  }
})
