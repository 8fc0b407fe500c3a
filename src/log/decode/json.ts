import {isDeepStrictEqual} from 'node:util'
import {messageNamed} from '../../protocol/messages.js'
import {type FieldSchema, includes, type MessageSchema} from '../../protocol/schema.js'
import {defaultOf, structFields} from '../../protocol/struct.js'
import {jacksonDouble, jacksonString} from './jackson.js'

/** Stands in a message for JSON that is to be printed in place of the field's own. */
export class Verbatim {
  constructor(readonly json: string) {}
}

/**
 * A message as Kafka's JSON converters and Jackson print it: compact, in the schema's order, without fields that the
 * version lacks and tagged fields that have their default. Fields that are not given have their defaults.
 */
export function kafkaJson(name: string, version: number, data: unknown): string {
  return jsonOf(messageNamed(name), version, data)
}

/** {@link kafkaJson} for a schema that is not the newest of its name; a version it lacks is printed as the nearest one. */
export function jsonOf(schema: MessageSchema, version: number, data: unknown): string {
  const {lowest, highest} = schema.validVersions
  const nearest = Math.min(Math.max(version, lowest), highest)
  const ofSchema = printers.get(schema) ?? new Map<number, Printer>()
  const known = ofSchema.get(nearest)
  if (known) return known(data)
  const printer = structPrinter(schema.fields, {message: schema, version: nearest})
  printers.set(schema, ofSchema.set(nearest, printer))
  return printer(data)
}

type Printer = (value: unknown) => string

interface Scope {
  readonly message: MessageSchema
  readonly version: number
}

const printers = new WeakMap<MessageSchema, Map<number, Printer>>()

function structPrinter(fields: readonly FieldSchema[], scope: Scope): Printer {
  const parts = fields
    .filter(field => includes(field.versions, scope.version))
    .map(field => ({
      name: field.name,
      label: `${jacksonString(field.name)}:`,
      tagged: includes(field.taggedVersions, scope.version),
      print: printerOf(field, field.type, scope),
      unsaid: () => defaultOf(field, scope.message, scope.version),
    }))
  return value => {
    const given = value as Readonly<Record<string, unknown>>
    const printed: string[] = []
    for (const {name, label, tagged, print, unsaid} of parts) {
      const item = given[name] === undefined ? unsaid() : given[name]
      if (tagged && isSame(item, unsaid())) continue
      printed.push(label + (item instanceof Verbatim ? item.json : item === null ? 'null' : print(item)))
    }
    return `{${printed.join(',')}}`
  }
}

function isSame(item: unknown, other: unknown): boolean {
  return item === other || (typeof item === 'object' && isDeepStrictEqual(item, other))
}

function printerOf(field: FieldSchema, type: string, scope: Scope): Printer {
  if (type.startsWith('[]')) {
    const element = printerOf(field, type.slice(2), scope)
    return value => `[${(value as readonly unknown[]).map(element).join(',')}]`
  }
  if (type === 'string' || type === 'uuid') return value => jacksonString(value as string)
  if (type === 'bytes' || type === 'records') return value => `"${(value as Buffer).toString('base64')}"`
  if (type === 'float64') return value => jacksonDouble(value as number)
  if (type === 'bool' || /^u?int\d+$/.test(type)) return String
  return structPrinter(structFields(field, type, scope.message), scope)
}
