import {ProtocolError} from '../../protocol/errors.js'
import {decodeAs, decodeLikeKafka, messageNamed} from '../../protocol/messages.js'
import type {Fields} from '../../protocol/struct.js'
import {messageOf} from '../../util/errors.js'
import {jsonOf, Verbatim} from './json.js'
import {leftOver, unknownTags} from './leftovers.js'

// Bytes of a group's record that are messages themselves: what the members of a consumer group told each other.

/** Only in groups of this type the members' bytes are Kafka's own; `connect` and others have their own formats. */
const consumerProtocol = 'consumer'
const embedded = {subscription: 'ConsumerProtocolSubscription', assignment: 'ConsumerProtocolAssignment'} as const

type Member = Fields & Readonly<Record<keyof typeof embedded, unknown>>

function membersOf(data: Fields): readonly Member[] | undefined {
  return data.protocolType === consumerProtocol ? (data.members as readonly Member[]) : undefined
}

/** GroupMetadata with the JSON that Kafka's tool puts in place of the members' bytes; what can't be read stays as it is. */
export function embeddedLikeKafka(data: Fields): Fields {
  const members = membersOf(data)
  if (!members) return data
  return {
    ...data,
    members: members.map(member => ({
      ...member,
      subscription: verbatimOf(embedded.subscription, member.subscription as Buffer),
      assignment: verbatimOf(embedded.assignment, member.assignment as Buffer),
    })),
  }
}

function verbatimOf(name: string, bytes: Buffer): Buffer | Verbatim {
  if (bytes.length < 2) return bytes
  const schema = messageNamed(name)
  const version = bytes.readInt16BE(0)
  try {
    return new Verbatim(jsonOf(schema, version, decodeLikeKafka(schema, version, bytes, {position: 2}).value))
  } catch (error) {
    if (error instanceof ProtocolError) return bytes
    throw error
  }
}

/** GroupMetadata or ConsumerGroupMemberMetadata with those messages in place of their bytes, and what is odd about them. */
export function withEmbedded(data: Fields): {readonly data: Fields; readonly problems: readonly string[]} {
  const members = membersOf(data)
  if (members) return decodeMembers(data, members)
  const classic = data.classicMemberMetadata as {supportedProtocols: readonly Fields[]} | null | undefined
  if (!classic) return {data, problems: []}
  // Nobody promises that these are Kafka's own messages: what doesn't fit exactly stays as it is.
  const supportedProtocols = classic.supportedProtocols.map(protocol => {
    const read = readEmbedded(embedded.subscription, protocol.metadata as Buffer)
    return 'value' in read && read.problems.length === 0 ? {...protocol, metadata: read.value} : protocol
  })
  return {data: {...data, classicMemberMetadata: {...classic, supportedProtocols}}, problems: []}
}

function decodeMembers(data: Fields, members: readonly Member[]): {data: Fields; problems: readonly string[]} {
  const problems: string[] = []
  const part = (member: Member, index: number, field: keyof typeof embedded): unknown => {
    const bytes = member[field] as Buffer
    // A member that has no assignment yet has no bytes at all.
    if (bytes.length === 0) return bytes
    const read = readEmbedded(embedded[field], bytes)
    problems.push(...read.problems.map(problem => `members[${index}].${field}: ${problem}`))
    return 'value' in read ? read.value : bytes
  }
  const decoded = members.map((member, index) => ({
    ...member,
    subscription: part(member, index, 'subscription'),
    assignment: part(member, index, 'assignment'),
  }))
  return {data: {...data, members: decoded}, problems}
}

function readEmbedded(name: string, bytes: Buffer): {readonly value?: Fields; readonly problems: readonly string[]} {
  if (bytes.length < 2) return {problems: [`${bytes.length} bytes, too few for a version`]}
  try {
    const {value, end} = decodeAs(messageNamed(name), bytes.readInt16BE(0), bytes, 2)
    return {value, problems: [...unknownTags(value), ...leftOver(bytes.length - end, `the ${name}`)]}
  } catch (error) {
    return {problems: [messageOf(error)]}
  }
}
