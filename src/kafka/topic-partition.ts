export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** `orders-0`, which is also the name of the partition's folder in a broker's log directory. */
export function nameOf({topic, partition}: TopicPartition): string {
  return `${topic}-${partition}`
}

/** The inverse of {@link nameOf}; `undefined` if the text names no partition. */
export function topicPartition(name: string): TopicPartition | undefined {
  const match = /^(.+)-(\d+)$/.exec(name)
  return match ? {topic: match[1] as string, partition: Number(match[2])} : undefined
}

/** The log of a KRaft quorum; each node of a cluster has it. */
export const metadataTopic = '__cluster_metadata'
