import type {ReportInput, RunRecord} from '../experiment/run.js'

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The kx command that makes the same plan again: same seed, knobs, version, runtime. */
export function repeatCommand(run: RunRecord): string {
  const knobs = Object.entries(run.knobs).flatMap(([name, value]) => [`--${kebab(name)}`, String(value)])
  const spec = run.cluster.spec
  const config = Object.entries(spec.config).flatMap(([key, value]) => ['--config', `${key}=${value}`])
  return [
    'kx', 'experiment', run.experiment, ...(run.quick ? ['--quick'] : []), '--seed', String(run.seed), ...knobs,
    '--kafka-version', spec.kafkaVersion, '--runtime', run.environment.runtime, '--profile', spec.profile, ...config,
  ] // biome-ignore format: one line a thought
    .map(shellWord)
    .join(' ')
}

/** `evidence/trial-2/…` belongs together: the folders of evidence, each once. */
export function evidenceFolders({evidence}: ReportInput): string[] {
  const folders = evidence.flatMap(({path}) => /^(?:evidence\/)[^/]+(?=\/)/.exec(path)?.[0] ?? [])
  return [...new Set(folders)]
}

/** What to type next. Evidence is worth a look; where a run proved nothing the same run again is. */
export function nextCommand(input: ReportInput, dir: string): string {
  const [folder] = evidenceFolders(input)
  if (folder) return `kx diff-replicas ${shellWord(`${dir}/${folder}`)}`
  return input.run.verdict.outcome === 'upheld'
    ? `kx results show ${shellWord(input.run.id)}`
    : repeatCommand(input.run)
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}
