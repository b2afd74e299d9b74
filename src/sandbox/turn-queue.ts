/**
 * Items that wait for a slot, in turns: one of each owner, the oldest of each owner first. An owner with many items
 * delays another owner by one item at most.
 */
export class TurnQueue<Item> {
  /** The owner that was served last is at the end. No list is empty. */
  readonly #byOwner = new Map<string, Item[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(owner: string, item: Item): void {
    const items = this.#byOwner.get(owner)
    if (items) items.push(item)
    else this.#byOwner.set(owner, [item])
    this.#size += 1
  }

  /** Puts an item that was taken before in front of the others of its owner. */
  putBack(owner: string, item: Item): void {
    const items = this.#byOwner.get(owner)
    if (items) items.unshift(item)
    else this.#byOwner.set(owner, [item])
    this.#size += 1
  }

  /**
   * The next item in turn: of an owner whose oldest item may have its turn now. Items that are held back do not count;
   * a later item of their owner may overtake them.
   */
  take(
    mayTake: (item: Item, owner: string) => boolean,
    isHeldBack: (item: Item) => boolean = () => false,
  ): Item | undefined {
    for (const [owner, items] of this.#byOwner) {
      const index = items.findIndex((each) => !isHeldBack(each))
      if (index < 0 || !mayTake(items[index]!, owner)) continue
      const item = index === 0 ? items.shift() : items.splice(index, 1)[0]
      this.#byOwner.delete(owner)
      if (items.length > 0) this.#byOwner.set(owner, items)
      this.#size -= 1
      return item
    }
    return undefined
  }

  /** Whether `take` would return an item. */
  mayTake(mayTake: (item: Item, owner: string) => boolean): boolean {
    for (const [owner, items] of this.#byOwner) if (mayTake(items[0]!, owner)) return true
    return false
  }

  /** Removes and returns all items that no longer wait. */
  remove(isGone: (item: Item) => boolean): Item[] {
    const gone: Item[] = []
    for (const [owner, items] of this.#byOwner) {
      const kept = items.filter((item) => !isGone(item) || void gone.push(item))
      if (kept.length === 0) this.#byOwner.delete(owner)
      else if (kept.length < items.length) this.#byOwner.set(owner, kept)
    }
    this.#size -= gone.length
    return gone
  }
}
