/** The releases that kx was tried with: the newest patch of each line, oldest line first. */
export const knownVersions = ['4.0.2', '4.1.2', '4.2.2', '4.3.1', '4.4.0'] as const
export const defaultVersion = '4.4.0'

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map(text => text.split(/[.-]/).map(Number)) as [number[], number[]]
  for (let i = 0; i < 3; i++) if ((left[i] ?? 0) !== (right[i] ?? 0)) return (left[i] ?? 0) - (right[i] ?? 0)
  return 0
}

/** True for a version that is later than all that kx was tried with: the screens then say so. */
export function isNewerThanKnown(version: string): boolean {
  return knownVersions.every(known => compareVersions(version, known) > 0)
}
