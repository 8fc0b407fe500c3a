/** How far a command or an experiment may go on a cluster; each level includes those before it. */
export type Reach = 'reads' | 'own-topics' | 'cluster' | 'brokers'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface ConnectOptions {
  readonly clientId?: string
  /** Requests above this reach are refused before a byte is sent. Default `reads`. */
  readonly reach?: Reach
  /** For the TCP connection and ApiVersions; default 3,000 ms. */
  readonly connectTimeoutMs?: number
  /** Default bound of one request: 10,000 ms. */
  readonly requestTimeoutMs?: number
  readonly signal?: AbortSignal
}

export interface RequestOptions {
  /** Default: the highest version that both sides (and `maxVersion`) speak. */
  readonly version?: number
  readonly maxVersion?: number
  readonly timeoutMs?: number
}
