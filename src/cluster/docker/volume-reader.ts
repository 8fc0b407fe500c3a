import {ownOwner} from '../owner.js'
import {dataFolder} from '../compose.js'
import {type Engine, statusOf} from './engine.js'
import {identityFrom, identityOf, labelsOf} from './labels.js'

export interface VolumeReader {
  readonly cluster: string
  readonly image: string
  readonly volume: string
  /** The label that the volume must carry. */
  readonly owner: string
}

/**
 * The id of a container that has a volume where its node would have it, for reading only, and is never started: the
 * archive API reads volumes through containers, and those of a cluster that is down are gone. `undefined`: there is no
 * such volume of kx.
 */
export async function createReader(
  engine: Engine,
  {cluster, image, volume, owner}: VolumeReader,
): Promise<string | undefined> {
  // Looked up first, because Docker would make a volume that is not there.
  if (identityFrom(await labelsOfVolume(engine, volume))?.owner !== owner) return undefined
  // Ephemeral: if this process dies on the way, `kx clean` takes the container.
  const labels = labelsOf(identityOf(cluster, true, await ownOwner()))
  const {id} = await engine.call(`create a container to read ${volume}`, docker =>
    docker.createContainer({
      Image: image,
      Labels: labels,
      Entrypoint: ['true'],
      HostConfig: {NetworkMode: 'none', Binds: [`${volume}:${dataFolder}:ro,nocopy`]},
    }),
  )
  return id
}

export async function removeReader(engine: Engine, id: string): Promise<void> {
  try {
    await engine.call('remove a container for reading', docker =>
      docker.getContainer(id).remove({force: true, v: true}),
    )
  } catch (error) {
    // `kx down --wipe` or `kx clean` were faster.
    if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error
  }
}

async function labelsOfVolume(engine: Engine, volume: string): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return (await engine.call(`look at volume ${volume}`, docker => docker.getVolume(volume).inspect())).Labels ?? {}
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}
