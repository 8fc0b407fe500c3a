/** The candidates that a mistyped word may have meant, best first: at most three, and none that is too far away. */
export function nearest(word: string, candidates: readonly string[]): string[] {
  const allowed = Math.max(2, Math.floor(word.length / 3))
  return candidates
    .map(candidate => ({candidate, distance: distanceOf(word.toLowerCase(), candidate.toLowerCase())}))
    .filter(({candidate, distance}) => distance <= allowed || (word.length > 2 && candidate.startsWith(word)))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({candidate}) => candidate)
}

/** Levenshtein's distance with one row; a swap of two neighbours counts as two steps. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({length: b.length + 1}, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
