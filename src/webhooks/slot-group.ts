/**
 * How fast a subscription's receiver responds. *Fast*: its last response came within a second. *Slow*: the response
 * took longer, or an attempt has been in flight for longer. *Unknown*: it has not responded yet.
 */
export type Pace = 'fast' | 'unknown' | 'slow'

/**
 * Members that share slots: the subscriptions of an origin, the origins of a host name, or all host names. Members
 * that wait are sorted by pace and stay in the order of their turns.
 */
export class SlotGroup<Member> {
  readonly #limit: number
  readonly #held: Record<Pace, number> = { fast: 0, unknown: 0, slow: 0 }
  readonly waiting: Record<Pace, Set<Member>> = { fast: new Set(), unknown: new Set(), slow: new Set() }
  /** How many members exist, waiting or not. */
  size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Slots in use. */
  get held(): number {
    return this.#held.fast + this.doubtful
  }

  /** Slots in use by members that are not fast. */
  get doubtful(): number {
    return this.#held.unknown + this.#held.slow
  }

  get isFull(): boolean {
    return this.held >= this.#limit
  }

  /** Whether members that are not fast hold half of the slots. */
  get isHalfDoubtful(): boolean {
    return this.doubtful >= this.half
  }

  /** The last quarter is for fast members. */
  get isMostlyDoubtful(): boolean {
    return this.doubtful >= Math.ceil(this.#limit * 0.75)
  }

  get half(): number {
    return Math.max(1, Math.floor(this.#limit * 0.5))
  }

  heldBy(pace: Pace): number {
    return this.#held[pace]
  }

  /**
   * Whether a member that holds `held` slots may take another one. A member holds at most half of all slots, and may
   * take another only while it holds fewer than are free. So a few members that begin to hang at the same moment leave
   * slots for the others. Members that are not fast share half of the slots, and three quarters if the slot goes to one
   * that holds none.
   */
  admits(pace: Pace, held: number): boolean {
    if (held >= Math.min(this.#limit - this.held, this.half)) return false
    return pace === 'fast' || !(held === 0 ? this.isMostlyDoubtful : this.isHalfDoubtful)
  }

  /** The member has the last turn, whatever it waits for. */
  moveToEnd(member: Member): void {
    for (const members of Object.values(this.waiting)) if (members.delete(member)) members.add(member)
  }

  count(pace: Pace, slots: number): void {
    this.#held[pace] += slots
  }
}
