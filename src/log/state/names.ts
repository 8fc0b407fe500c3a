// Kafka's names of the numbers that records of `__cluster_metadata` hold. A number without a name is shown as it is.

type Names = Readonly<Record<number, string>>

/** org.apache.kafka.common.config.ConfigResource.Type */
export const configResourceTypes: Names = {
  2: 'TOPIC',
  4: 'BROKER',
  8: 'BROKER_LOGGER',
  16: 'CLIENT_METRICS',
  32: 'GROUP',
}

/** org.apache.kafka.common.security.auth.SecurityProtocol */
export const securityProtocols: Names = {0: 'PLAINTEXT', 1: 'SSL', 2: 'SASL_PLAINTEXT', 3: 'SASL_SSL'}

/** org.apache.kafka.common.resource.ResourceType */
export const aclResourceTypes: Names = {
  1: 'ANY',
  2: 'TOPIC',
  3: 'GROUP',
  4: 'CLUSTER',
  5: 'TRANSACTIONAL_ID',
  6: 'DELEGATION_TOKEN',
  7: 'USER',
}

/** org.apache.kafka.common.resource.PatternType */
export const patternTypes: Names = {1: 'ANY', 2: 'MATCH', 3: 'LITERAL', 4: 'PREFIXED'}

/** org.apache.kafka.common.acl.AclOperation */
export const aclOperations: Names = {
  1: 'ANY',
  2: 'ALL',
  3: 'READ',
  4: 'WRITE',
  5: 'CREATE',
  6: 'DELETE',
  7: 'ALTER',
  8: 'DESCRIBE',
  9: 'CLUSTER_ACTION',
  10: 'DESCRIBE_CONFIGS',
  11: 'ALTER_CONFIGS',
  12: 'IDEMPOTENT_WRITE',
  13: 'CREATE_TOKENS',
  14: 'DESCRIBE_TOKENS',
  15: 'TWO_PHASE_COMMIT',
}

/** org.apache.kafka.common.acl.AclPermissionType */
export const aclPermissions: Names = {1: 'ANY', 2: 'DENY', 3: 'ALLOW'}

/** org.apache.kafka.clients.admin.ScramMechanism */
export const scramMechanisms: Names = {1: 'SCRAM-SHA-256', 2: 'SCRAM-SHA-512'}

/** org.apache.kafka.metadata.LeaderRecoveryState */
export const leaderRecoveryStates: Names = {0: 'RECOVERED', 1: 'RECOVERING'}

/** org.apache.kafka.metadata.migration.ZkMigrationState */
export const zkMigrationStates: Names = {0: 'NONE', 1: 'PRE_MIGRATION', 2: 'MIGRATION', 3: 'POST_MIGRATION', 4: 'ZK'}

/** Levels of metadata.version (org.apache.kafka.server.common.MetadataVersion of 4.4). */
export const metadataVersions: Names = {
  7: '3.3-IV3',
  8: '3.4-IV0',
  9: '3.5-IV0',
  10: '3.5-IV1',
  11: '3.5-IV2',
  12: '3.6-IV0',
  13: '3.6-IV1',
  14: '3.6-IV2',
  15: '3.7-IV0',
  16: '3.7-IV1',
  17: '3.7-IV2',
  18: '3.7-IV3',
  19: '3.7-IV4',
  20: '3.8-IV0',
  21: '3.9-IV0',
  22: '4.0-IV0',
  23: '4.0-IV1',
  24: '4.0-IV2',
  25: '4.0-IV3',
  26: '4.1-IV0',
  27: '4.1-IV1',
  28: '4.2-IV0',
  29: '4.2-IV1',
  30: '4.3-IV0',
  31: '4.4-IV0',
  32: '4.4-IV1',
  33: '4.4-IV2',
  34: '4.5-IV0',
}

export function nameIn(names: Names, value: number): string {
  return Object.hasOwn(names, value) ? (names[value] ?? String(value)) : String(value)
}

/** Settings whose value is a secret: Kafka writes it to the log as it was given. */
const secretSetting =
  /password|passwd|secret|credential|passphrase|jaas|token|private|keystore\.key|keystore\.certificate|truststore\.certificates/i

export function isSecretSetting(name: string): boolean {
  return secretSetting.test(name)
}
