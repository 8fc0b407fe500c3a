import type {Finding} from '../finding.js'
import {escapedString} from './encodings.js'
import {constant, type LineWriter} from './line-writer.js'

const findingMark = constant('! ')

/** A finding among the lines of the dialect `kx`. */
export function writeFinding(out: LineWriter, {severity, code, position, offset, explanation}: Finding): void {
  out.ascii(findingMark)
  const place = position === undefined ? '' : ` at ${position}${offset === undefined ? '' : `, offset ${offset}`}`
  out.text(`${severity} ${code}${place}: ${escapedString(explanation)}\n`)
}
