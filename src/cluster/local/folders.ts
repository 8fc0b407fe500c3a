import {join} from 'node:path'

/** What lies in the folder of a node. */
export interface NodeFolders {
  readonly folder: string
  readonly properties: string
  readonly log4j: string
  /** What Kafka logs, and what the JVM itself prints. */
  readonly log: string
  readonly output: string
  readonly data: string
  readonly tmp: string
}

export function nodeFolders(folder: string): NodeFolders {
  return {
    folder,
    properties: join(folder, 'server.properties'),
    log4j: join(folder, 'log4j2.properties'),
    log: join(folder, 'node.log'),
    output: join(folder, 'node.out'),
    data: join(folder, 'data'),
    tmp: join(folder, 'tmp'),
  }
}

export function nodeFolder(clusterFolder: string, nodeId: number): string {
  return join(clusterFolder, 'nodes', String(nodeId))
}
