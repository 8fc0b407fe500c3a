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
    readonly spans: readonly {readonly fromMs: number; readonly toMs: number; readonly label: string; readonly tone: Tone}[]
    readonly marks?: readonly {readonly atMs: number; readonly label: string}[]
  }[]
  readonly windows?: readonly FaultWindow[]
}

export interface BlocksFigure {
  readonly kind: 'blocks'
  readonly title: string
  readonly rows: readonly {
    readonly name: string
    readonly blocks: readonly {readonly size: number; readonly label: string; readonly tone: Tone}[]
  }[]
  readonly unit: string
}

export type Tone = 'good' | 'bad' | 'warn' | 'neutral' | 'accent'
