import { FairShare } from '../../domain/fair-share.ts'

export type PollTurnsOptions = {
  /** Polls at once. Workspaces share them. */
  total: number
  shareFactor: number
  /** Polls of one origin at once, of all workspaces together. */
  perOrigin: number
}

/** A poll that waits for its turn. `run` never rejects. */
export type PollTurn = { workspaceId: string; origin: string; run(): Promise<void> }

/**
 * Decides which poll comes next. Workspaces take turns, and within a workspace its origins do. A workspace waits while
 * it has its share of the polls in progress, and an origin while it has as many as it may. Each step takes constant
 * time, except that it passes over the workspaces with polls in progress.
 */
export class PollTurns {
  readonly #perOrigin: number
  readonly #total: number
  readonly #share: FairShare
  /** Workspaces with a poll whose origin may have room. The one that was served last is at the end. */
  readonly #ready = new Map<string, Map<string, PollTurn[]>>()
  readonly #origins = new Map<string, Origin>()

  constructor({ total, shareFactor, perOrigin }: PollTurnsOptions) {
    this.#total = total
    this.#perOrigin = perOrigin
    this.#share = new FairShare({ total, factor: shareFactor })
  }

  /** Polls in progress. */
  get used(): number {
    return this.#share.used
  }

  add(turn: PollTurn): void {
    const { workspaceId, origin } = turn
    const place = this.#placeOf(origin)
    const blocked = place.blocked.get(workspaceId)
    const waiting = blocked ?? this.#ready.get(workspaceId)?.get(origin)
    if (waiting) waiting.push(turn)
    else if (place.used < this.#perOrigin) this.#makeReady(workspaceId, origin, [turn])
    else place.blocked.set(workspaceId, [turn])
    this.#dispatch()
  }

  #dispatch(): void {
    while (this.#share.used < this.#total) {
      const turn = this.#next()
      if (!turn) return
      this.#begin(turn)
    }
  }

  #next(): PollTurn | undefined {
    for (const [workspaceId, origins] of this.#ready) {
      if (!this.#share.hasRoom(workspaceId)) continue
      this.#ready.delete(workspaceId)
      const turn = this.#takeOf(workspaceId, origins)
      if (origins.size > 0) this.#ready.set(workspaceId, origins)
      if (turn) return turn
    }
    return undefined
  }

  /** The next poll of a workspace. Sets aside those whose origin has no room. */
  #takeOf(workspaceId: string, origins: Map<string, PollTurn[]>): PollTurn | undefined {
    for (const [name, waiting] of origins) {
      origins.delete(name)
      const origin = this.#placeOf(name)
      if (origin.used >= this.#perOrigin) {
        origin.blocked.set(workspaceId, waiting)
        continue
      }
      const turn = waiting.shift()
      if (waiting.length > 0) origins.set(name, waiting)
      return turn
    }
    return undefined
  }

  #begin(turn: PollTurn): void {
    const origin = this.#placeOf(turn.origin)
    origin.used += 1
    this.#share.take(turn.workspaceId)
    void turn.run().finally(() => {
      origin.used -= 1
      this.#share.release(turn.workspaceId)
      this.#unblock(turn.origin, origin)
      this.#dispatch()
    })
  }

  /** Each end of a poll lets one workspace try again. */
  #unblock(name: string, origin: Origin): void {
    const [blocked] = origin.blocked
    if (!blocked) {
      if (origin.used === 0) this.#origins.delete(name)
      return
    }
    const [workspaceId, waiting] = blocked
    origin.blocked.delete(workspaceId)
    this.#makeReady(workspaceId, name, waiting)
  }

  #makeReady(workspaceId: string, origin: string, waiting: PollTurn[]): void {
    const origins = this.#ready.get(workspaceId)
    if (origins) origins.set(origin, waiting)
    else this.#ready.set(workspaceId, new Map([[origin, waiting]]))
  }

  #placeOf(name: string): Origin {
    const known = this.#origins.get(name)
    if (known) return known
    const origin: Origin = { used: 0, blocked: new Map() }
    this.#origins.set(name, origin)
    return origin
  }
}

/** `blocked`: the waiting polls of workspaces that found no room. */
type Origin = { used: number; readonly blocked: Map<string, PollTurn[]> }
