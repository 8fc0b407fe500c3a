import {describe, expect, it} from 'vitest'
import {type Identity, identityFrom, labelsOf, ownerLabel} from '../../../../src/cluster/docker/labels.js'

const identity: Identity = {
  cluster: 'default',
  owner: 'ada@laptop:/home/ada/.local/state/kx',
  pid: 4711,
  startTime: '81234@f00dcafe',
  ephemeral: false,
}

describe('labels', () => {
  it('tell who made a thing', () => {
    expect(identityFrom(labelsOf(identity))).toEqual(identity)
    expect(identityFrom(labelsOf({...identity, ephemeral: true}))?.ephemeral).toBe(true)
  })

  it('are not kx’s if the cluster or the owner is missing', () => {
    const {'kx.owner': _owner, ...noOwner} = labelsOf(identity)
    const {'kx.cluster': _cluster, ...noCluster} = labelsOf(identity)
    for (const labels of [noOwner, noCluster, {}, null, undefined]) expect(identityFrom(labels)).toBeUndefined()
  })

  it('differ between users, hosts and state folders', () => {
    const labels = [
      ownerLabel('a', 'h', '/s'),
      ownerLabel('b', 'h', '/s'),
      ownerLabel('a', 'i', '/s'),
      ownerLabel('a', 'h', '/t'),
    ]
    expect(new Set(labels).size).toBe(4)
  })
})
