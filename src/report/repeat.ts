import type {ReportInput, RunRecord} from '../experiment/run.js'

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The kx command that makes the same plan again: same seed, trials, knobs, version, image, heap, runtime. */
export function repeatCommand(run: RunRecord): string {
  const knobs = Object.entries(run.knobs).flatMap(([name, value]) => [`--${kebab(name)}`, String(value)])
  const spec = run.cluster.spec
  const {trials, heapMiB, image, kafkaHome} = run.asked ?? {}
  const asked = [
    ...(trials === undefined ? [] : ['--trials', String(trials)]),
    ...(heapMiB === undefined ? [] : ['--heap', `${heapMiB}m`]),
    ...(image === undefined ? [] : ['--image', image]),
    ...(kafkaHome === undefined ? [] : ['--kafka-home', kafkaHome]),
  ]
  const config = Object.entries(spec.config).flatMap(([key, value]) => ['--config', `${key}=${value}`])
  return [
    'kx', 'experiment', run.experiment, ...(run.quick ? ['--quick'] : []), '--seed', String(run.seed), ...knobs,
    '--kafka-version', spec.kafkaVersion, '--runtime', run.environment.runtime, '--profile', spec.profile, ...asked, ...config,
  ] // biome-ignore format: one line a thought
    .map(shellWord)
    .join(' ')
}

/** `evidence/trial-2/…` belongs together: the folders of evidence, each once. */
export function evidenceFolders({evidence}: ReportInput): string[] {
  const folders = evidence.flatMap(({path}) => /^(?:evidence\/)[^/]+(?=\/)/.exec(path)?.[0] ?? [])
  return [...new Set(folders)]
}

/**
 * How kx itself looks into a folder of evidence: replicas side by side where there are several, and each log. `dir` is
 * the run's folder as it is typed.
 */
export function evidenceCommands({evidence}: ReportInput, folder: string, dir: string): string[] {
  const at = (path: string) => shellWord(dir === '.' ? path : `${dir}/${path}`)
  const logs = evidence.filter(({path}) => path.startsWith(`${folder}/`) && /\.log(\.gz)?$/.test(path))
  const partitions = new Set(logs.map(({path}) => path.split('/').at(-2)))
  const isReplicated = logs.length > partitions.size
  return [
    ...(isReplicated ? [`kx diff-replicas ${at(folder)}`] : []),
    ...logs.map(({path}) => `kx dump-log --print-data-log ${at(path)}`),
  ]
}

/**
 * The evidence of one trial, side by side: of the one that the run's example is about, else the one with most replicas.
 * `undefined` if there are no two replicas of a partition.
 */
export function comparison(input: ReportInput, dir: string): string | undefined {
  const {example = ''} = input.run
  const candidates = evidenceFolders(input).flatMap(folder => {
    const [first] = evidenceCommands(input, folder, dir)
    if (!first?.startsWith('kx diff-replicas')) return []
    const files = input.evidence.filter(({path}) => path.startsWith(`${folder}/`))
    const isExample = files.some(({path}) => example.includes(path.split('/').at(-2) ?? path))
    return [{command: first, weight: isExample ? Number.POSITIVE_INFINITY : files.length}]
  })
  const most = Math.max(0, ...candidates.map(({weight}) => weight))
  return candidates.find(({weight}) => weight === most)?.command
}

/** What to type next: to look closer at a verdict, or, where the run gave none, to run it again. */
export function nextCommand({experiment, id, quick, state, verdict}: RunRecord): string {
  if (state === 'done' && verdict.outcome !== 'inconclusive')
    return `kx results show ${shellWord(`${experiment}/${id}`)} -o wide`
  return `kx experiment ${shellWord(experiment)}${quick ? ' --quick' : ''}`
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}
