/** Java's String.hashCode: over UTF-16 units, in 32 bits. */
export function javaHash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

/**
 * The partition of an internal topic that holds a key: group id, transactional id, or `group:topicId:partition` of a
 * share group. Utils.abs makes 0 of the least integer.
 */
export function partitionOfKey(key: string, partitions: number): number {
  const hash = javaHash(key)
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitions
}
