/**
 * Shares a fixed number of slots between owners, with a dynamic threshold: an owner that holds slots may take another
 * one only while it holds fewer than `factor` times the free slots, less one. The last free slot goes only to an owner
 * that holds none. With the factor 4, a lone owner gets 80 % of the slots, two busy owners get 44 % each, and a
 * newcomer finds a free slot.
 *
 * A guest uses an owner's slots without a credential. The same rule shares the owner's part between its guests, so that
 * a guest cannot shut the owner out.
 *
 * Nothing waits here. The state is the counts of owners and guests that hold slots, so it cannot outgrow the slots.
 */
export class FairShare {
  readonly #total: number
  readonly #factor: number
  readonly #owners = new Map<string, number>()
  readonly #guests = new Map<string, number>()
  #used = 0

  constructor({ total, factor }: FairShareOptions) {
    this.#total = total
    this.#factor = factor
  }

  get used(): number {
    return this.#used
  }

  /** Whether the owner, or its guest, may take a slot now. */
  hasRoom(owner: string, guest?: string): boolean {
    const held = this.#owners.get(owner) ?? 0
    if (!this.#isBelow(held, this.#total - this.#used)) return false
    return guest === undefined || this.#isBelow(this.#guests.get(guest) ?? 0, this.#roomOf(held))
  }

  /** Counts a slot. The caller has asked `hasRoom`, or has its own reason to exceed the share. */
  take(owner: string, guest?: string): void {
    this.#used += 1
    add(this.#owners, owner, 1)
    if (guest !== undefined) add(this.#guests, guest, 1)
  }

  /** Returns a slot. Call this once for each `take`, with the same names. */
  release(owner: string, guest?: string): void {
    this.#used -= 1
    add(this.#owners, owner, -1)
    if (guest !== undefined) add(this.#guests, guest, -1)
  }

  #isBelow(held: number, free: number): boolean {
    return held === 0 ? free > 0 : held < this.#factor * (free - 1)
  }

  /** The number of slots that an owner which holds `held` could still take if nobody else did. */
  #roomOf(held: number): number {
    const free = this.#total - this.#used
    const room = Math.ceil((this.#factor * (free - 1) - held) / (this.#factor + 1))
    return held === 0 && free > 0 ? Math.max(room, 1) : room
  }
}

export type FairShareOptions = { total: number; factor: number }

function add(counts: Map<string, number>, name: string, step: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + step
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
