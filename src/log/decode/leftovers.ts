import {type UnknownTaggedField, unknownTaggedFields} from '../../protocol/struct.js'

/** "3 bytes left over after the value", or nothing. */
export function leftOver(bytes: number, what: string): string[] {
  return bytes > 0 ? [`${bytes} ${bytes === 1 ? 'byte' : 'bytes'} left over after ${what}`] : []
}

/** Tagged fields that the schema does not know, each with its number, size and place. */
export function unknownTags(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => unknownTags(item, `${place}[${index}]`))
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return []
  return Object.entries(value).flatMap(([name, item]) =>
    name === unknownTaggedFields
      ? (item as readonly UnknownTaggedField[]).map(
          ({tag, bytes}) => `unknown tagged field ${tag} (${bytes.length} bytes)${place === '' ? '' : ` in ${place}`}`,
        )
      : unknownTags(item, place === '' ? name : `${place}.${name}`),
  )
}
