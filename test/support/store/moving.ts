import { type MoveOptions, type MoveResult, moveInstallation } from '../../../src/store/move/move.ts'
import type { MoveSource, MoveTarget } from '../../../src/store/move/sides.ts'
import { withPostgresSource } from '../../../src/store/postgres/move/source.ts'
import { withPostgresTarget } from '../../../src/store/postgres/move/target.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { withSqliteSource } from '../../../src/store/sqlite/move/source.ts'
import { withSqliteTarget } from '../../../src/store/sqlite/move/target.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'

// A place is a data folder, or the address of a database.

const isAddress = (place: string) => place.startsWith('postgres://')

export function withSource<Result>(place: string, work: (source: MoveSource) => Promise<Result>): Promise<Result> {
  return isAddress(place) ? withPostgresSource(place, work) : withSqliteSource(place, work)
}

export function withTarget<Result>(place: string, work: (target: MoveTarget) => Promise<Result>): Promise<Result> {
  return isAddress(place) ? withPostgresTarget(place, work) : withSqliteTarget(place, work)
}

export function move(from: string, to: string, more: Partial<MoveOptions> = {}): Promise<MoveResult> {
  const options = { prepare: async () => undefined, onProgress: () => undefined, ...more }
  return withSource(from, (source) => withTarget(to, (target) => moveInstallation({ source, target, ...options })))
}

/** Moves until the first call of `onProgress` of this kind, and ends there as if the process was killed. */
export async function moveUntil(kind: 'copy' | 'compare', from: string, to: string): Promise<void> {
  const end = new Error('The move ends here')
  const onProgress: MoveOptions['onProgress'] = (progress) => {
    if (progress.kind === kind && progress.table === 'logs' && progress.rows > 0) throw end
  }
  await move(from, to, { onProgress }).then(
    () => {
      throw new Error('The move was not interrupted')
    },
    (error: unknown) => {
      if (error !== end) throw error
    },
  )
}

export function openPlace(place: string): Promise<Store> {
  if (isAddress(place)) return openPostgresStore({ url: place })
  return openSqliteStore({ directory: place, sync: 'normal', mode: 'direct' })
}

export async function withStore<Result>(place: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openPlace(place)
  return await work(store).finally(() => store.close())
}
