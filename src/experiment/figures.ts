import type {Writes} from '../history/operation.js'
import type {FaultRecord} from './bench.js'
import type {TimelineEvent} from './timeline.js'

/** Figures are data: an experiment says what, `src/report` draws it as text, SVG or table. Times are ms. */
export type Figure = TableFigure | LinesFigure | BarsFigure | LanesFigure | BlocksFigure

export interface Axis {
  readonly label: string
  readonly unit: string
}

/** A span in which a fault was active; drawn as a band on every figure with a time axis. */
export interface FaultWindow {
  readonly fromMs: number
  readonly toMs: number
  readonly label: string
}

export interface TableFigure {
  readonly kind: 'table'
  readonly title: string
  readonly columns: readonly {readonly label: string; readonly unit?: string; readonly align?: 'left' | 'right'}[]
  readonly rows: readonly (readonly (string | number | null)[])[]
}

export interface LinesFigure {
  readonly kind: 'lines'
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly {readonly name: string; readonly points: readonly (readonly [number, number])[]}[]
  readonly windows?: readonly FaultWindow[]
}

export interface BarsFigure {
  readonly kind: 'bars'
  readonly title: string
  readonly y: Axis
  readonly bars: readonly {readonly label: string; readonly value: number; readonly group?: string}[]
}

export interface LanesFigure {
  readonly kind: 'lanes'
  readonly title: string
  readonly lanes: readonly {
    readonly name: string
    readonly spans: readonly {
      readonly fromMs: number
      readonly toMs: number
      readonly label: string
      readonly tone: Tone
    }[]
    readonly marks?: readonly {readonly atMs: number; readonly label: string}[]
  }[]
  readonly windows?: readonly FaultWindow[]
}

export interface BlocksFigure {
  readonly kind: 'blocks'
  readonly title: string
  readonly rows: readonly {
    readonly name: string
    /** Stands small below the name. */
    readonly note?: string
    readonly blocks: readonly Block[]
  }[]
  readonly unit: string
  /** The size that fills a line: longer rows go on in the next one. Default: that of the largest row. */
  readonly line?: number
  /** Stands below, for whoever has to know how to read it. */
  readonly caption?: string
  /** What the tones mean, where the labels do not say it. */
  readonly legend?: readonly {readonly tone: Tone; readonly text: string}[]
}

export interface Block {
  readonly size: number
  readonly label: string
  readonly tone: Tone
  /** For a block that is too narrow for its label: one or two letters. */
  readonly short?: string
  /** How much of its size is a header, which is drawn darker. */
  readonly head?: number
  /** All that is to be said of it, for whoever points at it. Default: the label and the size. */
  readonly detail?: string
}

export type Tone = 'good' | 'bad' | 'warn' | 'neutral' | 'accent'

/** A topic's leader and in-sync replicas over time, from the controller's log; the blow is the band. */
export function leadership(
  title: string,
  timeline: readonly TimelineEvent[],
  topic: string,
  blow: FaultRecord | undefined,
): LanesFigure {
  const changes = timeline.filter(event => event.kind === 'partition' && event.topic === topic)
  const endMs = Math.max(...timeline.map(({atMs}) => atMs), blow?.provenMs ?? 0) + 1_000
  const replicas = [...new Set(changes.flatMap(({inSyncReplicas = []}) => inSyncReplicas))].sort((a, b) => a - b)
  const lanes = replicas.map(nodeId => ({
    name: `broker ${nodeId}`,
    spans: changes.flatMap((change, index) => {
      if (!change.inSyncReplicas?.includes(nodeId)) return []
      const leads = change.leader === nodeId
      const toMs = changes[index + 1]?.atMs ?? endMs
      const label = leads ? `leader, epoch ${change.leaderEpoch}` : 'in sync'
      return [{fromMs: change.atMs, toMs, label, tone: leads ? ('accent' as const) : ('good' as const)}]
    }),
    marks: timeline
      .filter(event => event.kind !== 'partition' && event.nodeId === nodeId)
      .map(event => ({atMs: event.atMs, label: event.kind})),
  }))
  return {kind: 'lanes', title, lanes, windows: windowOf(timeline, blow)}
}

/** From the blow until the victim was unfenced again, or to the end. */
function windowOf(timeline: readonly TimelineEvent[], blow: FaultRecord | undefined): FaultWindow[] {
  if (!blow) return []
  const back = timeline.find(
    event => event.kind === 'unfenced' && event.nodeId === blow.nodeId && event.atMs > blow.startMs,
  )
  const toMs = back?.atMs ?? Math.max(...timeline.map(({atMs}) => atMs), blow.provenMs)
  return [{fromMs: blow.startMs, toMs, label: `${blow.fault} broker ${blow.nodeId}`}]
}

/** How long each acknowledgement took, at the time when its write began. */
export function latency(title: string, writes: Writes, blow: FaultRecord | undefined): LinesFigure {
  const points = writes.ok.map(
    ({startMs, endMs}) => [Math.round(startMs), Number((endMs - startMs).toFixed(1))] as const,
  )
  return {
    kind: 'lines',
    title,
    x: {label: 'time', unit: 'ms'},
    y: {label: 'acknowledged after', unit: 'ms'},
    series: [{name: 'acks=all', points: [...points].sort(([a], [b]) => a - b)}],
    windows: blow ? [{fromMs: blow.startMs, toMs: blow.provenMs, label: `${blow.fault} broker ${blow.nodeId}`}] : [],
  }
}

export function distribution(title: string, bars: BarsFigure['bars']): BarsFigure {
  return {kind: 'bars', title, y: {label: 'lost', unit: 'records'}, bars}
}
