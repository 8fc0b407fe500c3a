/**
 * The partition of an internal topic that holds a key: group id, transactional id, or `group:topicId:partition` of a
 * share group. Java's String.hashCode over UTF-16 units; Utils.abs makes 0 of the least integer.
 */
export function partitionOfKey(key: string, partitions: number): number {
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitions
}
