import type {Finding} from '../../../../src/log/finding.js'
import type {Folder} from '../../../../src/log/folder.js'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {stateChanges} from '../../../../src/log/state/diff.js'
import {type FolderOptions, type LoadedState, stateOfFolder} from '../../../../src/log/state/load.js'
import type {MetadataState} from '../../../../src/log/state/state.js'

/** A folder in memory. */
export function folderOf(files: Readonly<Record<string, Buffer>>): Folder {
  return {
    path: 'made-0',
    list: async () => Object.keys(files),
    async open(name) {
      const bytes = files[name]
      return bytes && {...bufferSource(bytes), path: `made-0/${name}`, name}
    },
  }
}

export async function load(
  folder: Folder,
  options: Partial<FolderOptions> = {},
): Promise<LoadedState & {readonly findings: readonly Finding[]}> {
  const findings: Finding[] = []
  const loaded = await stateOfFolder(folder, {
    read: {},
    watch: async visitor => visitor,
    tell: finding => findings.push(finding),
    ...options,
  })
  return {...loaded, findings}
}

/** What differs in two states but for the quorum's leader, and voters that are in no snapshot (kraft.version 0). */
export function differences(one: MetadataState, other: MetadataState): readonly string[] {
  return stateChanges(one, other)
    .filter(({kind}) => kind !== 'quorum' && (kind !== 'voter' || one.quorum.kraftVersion > 0))
    .map(
      ({change, label, fields}) =>
        `${change} ${label} ${JSON.stringify(fields, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
    )
}
