import {jsonLayout, type Layout, yamlLayout} from '../log/json-records.js'

/**
 * How data are framed: text for stdout. What it is given is the fields of an object as JSON, without braces; batches and
 * records are written by others, between what it says comes before and behind their fields. A file is opened, its batches
 * with their records or its entries follow, then its findings, then it is closed.
 */
export interface Framing {
  begin(): string
  file(fields: string): string
  readonly batchLayout: Layout
  beforeBatch(): string
  readonly behindBatch: string
  readonly recordLayout: Layout
  /** Its readers take no name of an object twice. */
  readonly uniqueNames: boolean
  beforeRecord(): string
  /** With more fields of the record; empty: there are none. */
  behindRecord(fields: string): string
  batchEnd(fields: string): string
  entry(fields: string): string
  finding(fields: string): string
  fileEnd(fields: string): string
  error(fields: string): string
  end(fields: string): string
}

/** One object on each line; each says what it is and of which file. */
export class Lines implements Framing {
  readonly batchLayout = jsonLayout
  readonly behindBatch = '}\n'
  readonly recordLayout = jsonLayout
  readonly uniqueNames = false
  #file = ''
  #record = ''

  begin(): string {
    return ''
  }

  file(fields: string): string {
    this.#file = /"path":("(?:[^"\\]|\\.)*")/.exec(fields)?.[1] ?? '""'
    this.#record = this.#beginning('record')
    return `{"kind":"file",${fields}}\n`
  }

  beforeBatch(): string {
    return this.#beginning('batch')
  }

  beforeRecord(): string {
    return this.#record
  }

  behindRecord(fields: string): string {
    return fields === '' ? '}\n' : `,${fields}}\n`
  }

  batchEnd(): string {
    return ''
  }

  entry(fields: string): string {
    return this.#line('entry', fields)
  }

  finding(fields: string): string {
    return this.#line('finding', fields)
  }

  fileEnd(fields: string): string {
    return this.#line('end', fields)
  }

  error(fields: string): string {
    return `{"kind":"error",${fields}}\n`
  }

  end(): string {
    return ''
  }

  #beginning(kind: string): string {
    return `{"kind":"${kind}","file":${this.#file},`
  }

  #line(kind: string, fields: string): string {
    return `${this.#beginning(kind)}${fields}}\n`
  }
}

type List = 'batches' | 'entries' | 'findings'

/** One value: files with their batches, these with their records. */
export class OneValue implements Framing {
  readonly batchLayout = jsonLayout
  readonly behindBatch = ',"records":['
  readonly recordLayout = jsonLayout
  readonly uniqueNames = false
  #files = 0
  #list: List | undefined
  #items = 0
  #hasRecords = false
  readonly #errors: string[] = []

  begin(): string {
    return '{"schema":"kx/dump-log/1","files":['
  }

  file(fields: string): string {
    this.#list = undefined
    return `${this.#files++ === 0 ? '\n' : ',\n'}{${fields}`
  }

  beforeBatch(): string {
    this.#hasRecords = false
    return `${this.#item('batches')}{`
  }

  beforeRecord(): string {
    if (this.#hasRecords) return ',\n    {'
    this.#hasRecords = true
    return '\n    {'
  }

  behindRecord(fields: string): string {
    return fields === '' ? '}' : `,${fields}}`
  }

  batchEnd(fields: string): string {
    return `]${fields === '' ? '' : `,${fields}`}}`
  }

  entry(fields: string): string {
    return `${this.#item('entries')}{${fields}}`
  }

  finding(fields: string): string {
    return `${this.#item('findings')}{${fields}}`
  }

  fileEnd(fields: string): string {
    return `${this.#closed()},${fields}}`
  }

  error(fields: string): string {
    this.#errors.push(`{${fields}}`)
    return ''
  }

  end(fields: string): string {
    return `],"errors":[${this.#errors.join(',')}],${fields}}\n`
  }

  #item(list: List): string {
    if (this.#list === list) return this.#items++ === 0 ? '\n  ' : ',\n  '
    const closed = this.#closed()
    this.#list = list
    this.#items = 1
    return `${closed},"${list}":[\n  `
  }

  #closed(): string {
    const closed = this.#list === undefined ? '' : ']'
    this.#list = undefined
    return closed
  }
}

const batchIndent = 8
const recordIndent = 12

/**
 * {@link OneValue} as YAML; `block` writes a value in block style. Of batches and records, of which there may be millions,
 * each field has a line, and its value is written as in JSON; an entry of an index has one line for all its fields.
 */
export class OneDocument implements Framing {
  readonly batchLayout = yamlLayout(batchIndent)
  readonly behindBatch = '\n'
  readonly recordLayout = yamlLayout(recordIndent)
  readonly uniqueNames = true
  #files = 0
  #list: List | undefined
  #hasRecords = false
  readonly #block: (value: unknown) => string
  readonly #errors: unknown[] = []

  constructor(block: (value: unknown) => string) {
    this.#block = block
  }

  begin(): string {
    return 'schema: kx/dump-log/1\n'
  }

  file(fields: string): string {
    this.#list = undefined
    return `${this.#files++ === 0 ? 'files:\n' : ''}${this.#item(fields, 2)}`
  }

  beforeBatch(): string {
    this.#hasRecords = false
    return `${this.#listed('batches')}      - `
  }

  beforeRecord(): string {
    if (this.#hasRecords) return '          - '
    this.#hasRecords = true
    return '        records:\n          - '
  }

  behindRecord(fields: string): string {
    return fields === '' ? '\n' : `\n${this.#fields(fields, recordIndent)}`
  }

  batchEnd(fields: string): string {
    const none = this.#hasRecords ? '' : '        records: []\n'
    return none + (fields === '' ? '' : this.#fields(fields, batchIndent))
  }

  entry(fields: string): string {
    return `${this.#listed('entries')}      - {${fields}}\n`
  }

  finding(fields: string): string {
    return this.#listed('findings') + this.#item(fields, 6)
  }

  fileEnd(fields: string): string {
    return this.#fields(fields, 4)
  }

  error(fields: string): string {
    this.#errors.push(JSON.parse(`{${fields}}`))
    return ''
  }

  end(fields: string): string {
    const none = this.#files === 0 ? 'files: []\n' : ''
    return `${none}${this.#block({errors: this.#errors})}${this.#block(JSON.parse(`{${fields}}`))}`
  }

  #listed(list: List): string {
    if (this.#list === list) return ''
    this.#list = list
    return `    ${list}:\n`
  }

  #item(fields: string, indent: number): string {
    const text = this.#fields(fields, indent + 2)
    return `${' '.repeat(indent)}- ${text.slice(indent + 2)}`
  }

  #fields(fields: string, indent: number): string {
    return this.#block(JSON.parse(`{${fields}}`)).replace(/^(?=.)/gm, ' '.repeat(indent))
  }
}
